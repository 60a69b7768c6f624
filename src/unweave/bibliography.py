"""The works that docstrings refer to, such as "Higgins et al. 2017", as BibTeX."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

ICLR = "International Conference on Learning Representations"
ICML = "International Conference on Machine Learning"
NEURIPS = "Advances in Neural Information Processing Systems"


@dataclass(frozen=True)
class Work:
    """A paper or a data set: its authors, title, and the proceedings, the journal or the address where it appeared."""

    authors: str  # separated by "and", as in BibTeX
    title: str
    year: int
    proceedings: str = ""
    journal: str = ""
    address: str = ""

    @property
    def key(self) -> str:
        """The key in BibTeX: the surname of the first author, the year and the first long word of the title."""
        surname = self.authors.split(" and ")[0].split()[-1]
        word = next(word for word in re.findall(r"\w[\w-]*", self.title) if len(word) > 3)
        plain = unicodedata.normalize("NFKD", f"{surname}{self.year}{word}".lower())
        return re.sub(r"[^a-z0-9]", "", plain)

    def bibtex(self) -> str:
        """Return the entry."""
        kind = "inproceedings" if self.proceedings else "article" if self.journal else "misc"
        fields = {"author": self.authors, "title": f"{{{self.title}}}", "booktitle": self.proceedings}
        fields |= {"journal": self.journal, "howpublished": f"\\url{{{self.address}}}" if self.address else ""}
        fields["year"] = str(self.year)
        lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
        return "\n".join([f"@{kind}{{{self.key},", *lines, "}"])


WORKS = {
    "Almudévar & Ortega 2024": Work(
        "Antonio Almudévar and Alfonso Ortega",
        "Rethinking Disentanglement under Dependent Factors of Variation",
        2024,
        journal="arXiv:2408.07016",
    ),
    "Burda et al. 2016": Work(
        "Yuri Burda and Roger Grosse and Ruslan Salakhutdinov", "Importance Weighted Autoencoders", 2016, ICLR
    ),
    "Burgess & Kim 2018": Work(
        "Chris Burgess and Hyunjik Kim",
        "3D Shapes Dataset",
        2018,
        address="https://github.com/google-deepmind/3d-shapes",
    ),
    "Burgess et al. 2018": Work(
        "Christopher P. Burgess and Irina Higgins and Arka Pal and Loic Matthey and Nick Watters and "
        "Guillaume Desjardins and Alexander Lerchner",
        "Understanding disentangling in β-VAE",
        2018,
        journal="arXiv:1804.03599",
    ),
    "Carbonneau et al. 2022": Work(
        "Marc-André Carbonneau and Julian Zaïdi and Jonathan Boilard and Ghyslain Gagnon",
        "Measuring Disentanglement: A Review of Metrics",
        2022,
        journal="IEEE Transactions on Neural Networks and Learning Systems",
    ),
    "Chanin et al. 2024": Work(
        "David Chanin and James Wilken-Smith and Tomáš Dulka and Hardik Bhatnagar and Satvik Golechha and Joseph Bloom",
        "A is for Absorption: Studying Feature Splitting and Absorption in Sparse Autoencoders",
        2024,
        journal="arXiv:2409.14507",
    ),
    "Chen et al. 2018": Work(
        "Ricky T. Q. Chen and Xuechen Li and Roger Grosse and David Duvenaud",
        "Isolating Sources of Disentanglement in Variational Autoencoders",
        2018,
        NEURIPS,
    ),
    "Dapueto et al. 2024": Work(
        "Jacopo Dapueto and Nicoletta Noceti and Francesca Odone",
        "Transferring disentangled representations: bridging the gap between synthetic and real images",
        2024,
        NEURIPS,
    ),
    "Do & Tran 2020": Work(
        "Kien Do and Truyen Tran",
        "Theory and Evaluation Metrics for Learning Disentangled Representations",
        2020,
        ICLR,
    ),
    "Duan et al. 2020": Work(
        "Sunny Duan and Loic Matthey and Andre Saraiva and Nicholas Watters and Christopher P. Burgess and "
        "Alexander Lerchner and Irina Higgins",
        "Unsupervised Model Selection for Variational Disentangled Representation Learning",
        2020,
        ICLR,
    ),
    "Eastwood & Williams 2018": Work(
        "Cian Eastwood and Christopher K. I. Williams",
        "A Framework for the Quantitative Evaluation of Disentangled Representations",
        2018,
        ICLR,
    ),
    "Eastwood et al. 2023": Work(
        "Cian Eastwood and Andrei Liviu Nicolicioiu and Julius von Kügelgen and Armin Kekić and Frederik Träuble and "
        "Andrea Dittadi and Bernhard Schölkopf",
        "DCI-ES: An Extended Disentanglement Framework with Connections to Identifiability",
        2023,
        ICLR,
    ),
    "Gondal et al. 2019": Work(
        "Muhammad Waleed Gondal and Manuel Wüthrich and Đorđe Miladinović and Francesco Locatello and Martin Breidt "
        "and Valentin Volchkov and Joel Akpo and Olivier Bachem and Bernhard Schölkopf and Stefan Bauer",
        "On the Transfer of Inductive Bias from Simulation to the Real World: a New Disentanglement Dataset",
        2019,
        NEURIPS,
    ),
    "Gurnee et al. 2023": Work(
        "Wes Gurnee and Neel Nanda and Matthew Pauly and Katherine Harvey and Dmitrii Troitskii and Dimitris Bertsimas",
        "Finding Neurons in a Haystack: Case Studies with Sparse Probing",
        2023,
        journal="Transactions on Machine Learning Research",
    ),
    "Higgins et al. 2017": Work(
        "Irina Higgins and Loic Matthey and Arka Pal and Christopher Burgess and Xavier Glorot and "
        "Matthew Botvinick and Shakir Mohamed and Alexander Lerchner",
        "beta-VAE: Learning Basic Visual Concepts with a Constrained Variational Framework",
        2017,
        ICLR,
    ),
    "Hou et al. 2017": Work(
        "Xianxu Hou and Linlin Shen and Ke Sun and Guoping Qiu",
        "Deep Feature Consistent Variational Autoencoder",
        2017,
        "IEEE Winter Conference on Applications of Computer Vision",
    ),
    "Hsu et al. 2023": Work(
        "Kyle Hsu and Will Dorrell and James C. R. Whittington and Jiajun Wu and Chelsea Finn",
        "Disentanglement via Latent Quantization",
        2023,
        NEURIPS,
    ),
    "Hsu et al. 2024": Work(
        "Kyle Hsu and Jubayer Ibn Hamid and Kaylee Burns and Chelsea Finn and Jiajun Wu",
        "Tripod: Three Complementary Inductive Biases for Disentangled Representation Learning",
        2024,
        ICML,
    ),
    "Hyvärinen & Morioka 2016": Work(
        "Aapo Hyvärinen and Hiroshi Morioka",
        "Unsupervised Feature Extraction by Time-Contrastive Learning and Nonlinear ICA",
        2016,
        NEURIPS,
    ),
    "Ishfaq et al. 2018": Work(
        "Haque Ishfaq and Assaf Hoogi and Daniel Rubin",
        "TVAE: Triplet-Based Variational Autoencoder using Metric Learning",
        2018,
        journal="arXiv:1802.04403",
    ),
    "Julka et al. 2024": Work(
        "Sahib Julka and Yashu Wang and Michael Granitzer",
        "Towards an Improved Metric for Evaluating Disentangled Representations",
        2024,
        journal="arXiv:2410.03056",
    ),
    "Karvonen et al. 2025": Work(
        "Adam Karvonen and Can Rager and Johnny Lin and Curt Tigges and Joseph Bloom and David Chanin and Yeu-Tong Lau "
        "and Eoin Farrell and Callum McDougall and Kola Ayonrinde and Demian Till and Matthew Wearden and Arthur Conmy "
        "and Samuel Marks and Neel Nanda",
        "SAEBench: A Comprehensive Benchmark for Sparse Autoencoders in Language Model Interpretability",
        2025,
        ICML,
    ),
    "Kim & Mnih 2018": Work("Hyunjik Kim and Andriy Mnih", "Disentangling by Factorising", 2018, ICML),
    "Kingma & Welling 2014": Work("Diederik P. Kingma and Max Welling", "Auto-Encoding Variational Bayes", 2014, ICLR),
    "Kumar et al. 2018": Work(
        "Abhishek Kumar and Prasanna Sattigeri and Avinash Balakrishnan",
        "Variational Inference of Disentangled Latent Concepts from Unlabeled Observations",
        2018,
        ICLR,
    ),
    "LeCun et al. 2004": Work(
        "Yann LeCun and Fu Jie Huang and Léon Bottou",
        "Learning Methods for Generic Object Recognition with Invariance to Pose and Lighting",
        2004,
        "IEEE Conference on Computer Vision and Pattern Recognition",
    ),
    "Li et al. 2020": Work(
        "Zhiyuan Li and Jaideep Vitthal Murkute and Prashnna Kumar Gyawali and Linwei Wang",
        "Progressive Learning and Disentanglement of Hierarchical Representations",
        2020,
        ICLR,
    ),
    "Locatello et al. 2019": Work(
        "Francesco Locatello and Stefan Bauer and Mario Lucic and Gunnar Rätsch and Sylvain Gelly and "
        "Bernhard Schölkopf and Olivier Bachem",
        "Challenging Common Assumptions in the Unsupervised Learning of Disentangled Representations",
        2019,
        ICML,
    ),
    "Locatello et al. 2019b": Work(
        "Francesco Locatello and Gabriele Abbati and Tom Rainforth and Stefan Bauer and Bernhard Schölkopf and "
        "Olivier Bachem",
        "On the Fairness of Disentangled Representations",
        2019,
        NEURIPS,
    ),
    "Locatello et al. 2020": Work(
        "Francesco Locatello and Ben Poole and Gunnar Rätsch and Bernhard Schölkopf and Olivier Bachem and "
        "Michael Tschannen",
        "Weakly-Supervised Disentanglement Without Compromises",
        2020,
        ICML,
    ),
    "Matthey et al. 2017": Work(
        "Loic Matthey and Irina Higgins and Demis Hassabis and Alexander Lerchner",
        "dSprites: Disentanglement testing Sprites dataset",
        2017,
        address="https://github.com/google-deepmind/dsprites-dataset",
    ),
    "Mentzer et al. 2023": Work(
        "Fabian Mentzer and David Minnen and Eirikur Agustsson and Michael Tschannen",
        "Finite Scalar Quantization: VQ-VAE Made Simple",
        2023,
        journal="arXiv:2309.15505",
    ),
    "Michlo et al. 2023": Work(
        "Nathan Michlo and Richard Klein and Steven James",
        "Overlooked Implications of the Reconstruction Loss for VAE Disentanglement",
        2023,
        "International Joint Conference on Artificial Intelligence",
    ),
    "Morcos et al. 2018": Work(
        "Ari S. Morcos and David G. T. Barrett and Neil C. Rabinowitz and Matthew Botvinick",
        "On the importance of single directions for generalization",
        2018,
        ICLR,
    ),
    "Nie et al. 2020": Work(
        "Weili Nie and Tero Karras and Animesh Garg and Shoubhik Debnath and Anjul Patney and Ankit B. Patel and "
        "Anima Anandkumar",
        "Semi-Supervised StyleGAN for Disentanglement Learning",
        2020,
        ICML,
    ),
    "Olshausen & Field 1996": Work(
        "Bruno A. Olshausen and David J. Field",
        "Emergence of simple-cell receptive field properties by learning a sparse code for natural images",
        1996,
        journal="Nature",
    ),
    "Peebles et al. 2020": Work(
        "William Peebles and John Peebles and Jun-Yan Zhu and Alexei A. Efros and Antonio Torralba",
        "The Hessian Penalty: A Weak Prior for Unsupervised Disentanglement",
        2020,
        "European Conference on Computer Vision",
    ),
    "Reed et al. 2015": Work(
        "Scott E. Reed and Yi Zhang and Yuting Zhang and Honglak Lee", "Deep Visual Analogy-Making", 2015, NEURIPS
    ),
    "Rhodes & Lee 2021": Work(
        "Travers Rhodes and Daniel D. Lee",
        "Local Disentanglement in Variational Auto-Encoders Using Jacobian L1 Regularization",
        2021,
        NEURIPS,
    ),
    "Ridgeway & Mozer 2018": Work(
        "Karl Ridgeway and Michael C. Mozer",
        "Learning Deep Disentangled Embeddings With the F-Statistic Loss",
        2018,
        NEURIPS,
    ),
    "Sepliarskaia et al. 2019": Work(
        "Anna Sepliarskaia and Julia Kiseleva and Maarten de Rijke",
        "How to Not Measure Disentanglement",
        2019,
        journal="arXiv:1910.05587",
    ),
    "Shao et al. 2020": Work(
        "Huajie Shao and Shuochao Yao and Dachun Sun and Aston Zhang and Shengzhong Liu and Dongxin Liu and "
        "Jun Wang and Tarek Abdelzaher",
        "ControlVAE: Controllable Variational Autoencoder",
        2020,
        ICML,
    ),
    "Song et al. 2025": Work(
        "Xiangchen Song and Aashiq Muhamed and Yujia Zheng and Lingjing Kong and Zeyu Tang and Mona T. Diab and "
        "Virginia Smith and Kun Zhang",
        "Position: Mechanistic Interpretability Should Prioritize Feature Consistency in SAEs",
        2025,
        journal="arXiv:2505.20254",
    ),
    "Suter et al. 2019": Work(
        "Raphael Suter and Đorđe Miladinović and Bernhard Schölkopf and Stefan Bauer",
        "Robustly Disentangled Causal Mechanisms: Validating Deep Representations for Interventional Robustness",
        2019,
        ICML,
    ),
    "Zhao et al. 2017": Work(
        "Shengjia Zhao and Jiaming Song and Stefano Ermon",
        "InfoVAE: Information Maximizing Variational Autoencoders",
        2017,
        journal="arXiv:1706.02262",
    ),
    "Zhao et al. 2018": Work(
        "Shengjia Zhao and Hongyu Ren and Arianna Yuan and Jiaming Song and Noah Goodman and Stefano Ermon",
        "Bias and Generalization in Deep Generative Models: An Empirical Study",
        2018,
        NEURIPS,
    ),
}
DISENT = "Michlo et al. 2023"  # whose authors wrote the framework Disent
REFERENCE = re.compile(r"([A-Z]\w+(?: et al\.| (?:&|and) [A-Z]\w+)) \(?((?:19|20)\d\d[a-z]?)\b")


def works_in(text: str) -> list[str]:
    """Return the works that a text refers to, by authors and year or by title, in the order of ``WORKS``.

    >>> works_in("β-VAE (Higgins et al. 2017), with the settings of Locatello et al. 2019")
    ['Higgins et al. 2017', 'Locatello et al. 2019']
    """
    flat = " ".join(text.split())
    named = {f"{authors.replace(' and ', ' & ')} {year}" for authors, year in REFERENCE.findall(flat)}
    titled = {name for name, work in WORKS.items() if work.title.partition(":")[0].lower() in flat.lower()}
    of_disent = {DISENT} if re.search(r"\bDisent\b", flat) else set()
    return [name for name in WORKS if name in named | titled | of_disent]


def bibtex(names: Iterable[str]) -> str:
    """Return the entries of works, each once, separated by empty lines."""
    return "\n\n".join(WORKS[name].bibtex() for name in dict.fromkeys(names))
