"""What each analysis of a study asks, and how its figure is read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """The question of an analysis in a sentence, and how to read its figure."""

    title: str
    asks: str
    reading: str
    points: bool = False  # its table repeats the scores of single runs, so that only the figure is shown


QUESTIONS: dict[str, Question] = {
    "total_correlation_by_strength": Question(
        "Total correlation",
        "Does stronger regularisation make the codes factorise, and does it do so for the mean codes that are used "
        "as the representation, or only for sampled codes?",
        "Lines are medians over seeds and bands are quartiles, on a logarithmic scale. The x axis counts the strengths "
        "of each method from weak to strong regularisation.",
    ),
    "mean_against_sampled": Question(
        "Mean against sampled codes",
        "Are the mean codes of a model as independent as its sampled codes?",
        "One point per model. Above the dashed diagonal, the mean codes depend on each other more than the sampled "
        "codes do.",
        points=True,
    ),
    "metric_agreement": Question(
        "Agreement of metrics",
        "Do the metrics rank models in the same order?",
        "Spearman's rank correlation times 100 between every two metrics, one matrix per data set.",
    ),
    "metric_pairs": Question(
        "Pairs of metrics",
        "How are the scores of two metrics related, model by model?",
        "One point per model, on the first data set.",
        points=True,
    ),
    "score_ranges": Question(
        "Score ranges",
        "How much do the scores of a method vary over its hyperparameters, and how much do methods overlap?",
        "Each strength counts once, with the median over its seeds. Boxes are quartiles with the median; whiskers "
        "reach the lowest and the highest score.",
    ),
    "variance_explained": Question(
        "Variance explained",
        "How much of the variation of a score is explained by the choice of method, by its hyperparameter, and by "
        "chance?",
        "Shares of the variance of each score by objective, hyperparameter and seed. The three sum to 1.",
    ),
    "method_differences": Question(
        "Differences between methods",
        "Which methods differ on average, and by how much?",
        "Differences of mean scores with 95 % confidence intervals. Filled points have a p-value below 0.05 in Welch's "
        "t-test after Holm's correction.",
    ),
    "scores_by_strength": Question(
        "Scores against strength",
        "Is there a regularisation strength that is good for a method in general?",
        "Lines are medians over seeds and bands are quartiles, from weak to strong regularisation.",
    ),
    "unsupervised_agreement": Question(
        "Scores without labels",
        "Can scores that need no labels, such as the reconstruction error, predict the metrics that do?",
        "Spearman's rank correlation times 100 of each unsupervised score with each metric, one matrix per data set. "
        "A reconstruction error that is useful correlates negatively.",
    ),
    "transfer_between_data": Question(
        "Transfer between data sets",
        "Do hyperparameters that are good on one data set remain good on another?",
        "Spearman's rank correlation times 100 of the median scores of settings, between every two data sets.",
    ),
    "transfer_of_scores": Question(
        "Scores on two data sets",
        "How does the score of a setting on one data set relate to its score on the others?",
        "One point per method and strength: the median over seeds on the first data set and on another one.",
        points=True,
    ),
    "beating_random": Question(
        "Beating random selection",
        "If a setting is selected by its score on one data set and metric, how often does it beat a randomly chosen "
        "model on the same or another data set and metric?",
        "Probabilities over all draws; chance is the value if the setting is selected at random.",
    ),
    "picked_by_udr": Question(
        "Selection by UDR",
        "How good are the models that the unsupervised disentanglement ranking picks?",
        "Each line reaches from the mean of the runs, which a random pick attains on average, to the best run.",
    ),
    "best_without_labels": Question(
        "Best run without labels",
        "Which run of each method would be picked by a rule that uses no labels, and what does it score?",
        "One marker per method: the scores of the run that the rule picks on each data set.",
    ),
    "downstream_agreement": Question(
        "Downstream performance",
        "Do higher scores mean more accurate predictions of the factors from the codes?",
        "Spearman's rank correlation times 100 of each metric with downstream accuracy, one matrix per data set.",
    ),
    "statistical_efficiency": Question(
        "Statistical efficiency",
        "Do models with higher scores need fewer labels?",
        "Spearman's rank correlation times 100 of each metric with the accuracy from 100 labels divided by that from "
        "10,000 labels, one matrix per data set.",
    ),
    "efficiency_points": Question(
        "Efficiency, model by model",
        "How is statistical efficiency related to each metric?",
        "One point per model. A model can be efficient because it learns nothing from more labels.",
        points=True,
    ),
}
