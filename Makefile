PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: demo test test-slow check docs format bench pictures clean

# A tour of the data, the training and the metrics; every command below can also be run by hand.
demo: $(READY)
	$(BIN)/unweave data list
	$(BIN)/unweave data show dsprites --out demo/dsprites.png
	$(BIN)/unweave data show rooms3d --out demo/rooms3d.png
	$(BIN)/unweave data distances dsprites --out demo/dsprites-distances.png
	$(BIN)/unweave data distances xysquares --out demo/xysquares-distances.png
	$(BIN)/unweave recipes list
	$(BIN)/python examples/compare_methods.py
	$(BIN)/unweave runs list --store demo/runs
	@echo 'The two tables of distances agree with Table A1 of Michlo et al. 2023, which has 0.0104 and 0.0308 for XYSquares.'
	@echo 'In the comparison of methods, PCA and the VAE mix the factors; the Ada-GVAE, which sees pairs, separates x, y and scale.'
	@echo 'demo/report.html compares the three runs. Contact sheets, distance matrices, reconstructions and traversals are in demo/. To train longer, or another method:'
	@echo '  $(BIN)/unweave train tripod rooms3d --net conv64 --steps 20000 --score --pictures demo'

test: $(READY)
	$(BIN)/pytest -n 2 -rs

test-slow: $(READY)
	$(BIN)/pytest -m slow

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site, in site/. The variable silences an advertisement.
docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Rewrites the pages in benchmarks/, then fails if a target that the committed page meets is missed now.
bench: $(READY)
	$(BIN)/python benchmarks/data.py
	$(BIN)/python benchmarks/metrics.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/recipes.py
	$(BIN)/python benchmarks/normalised_hessian.py
	$(BIN)/python benchmarks/targets.py

pictures: $(READY)
	$(BIN)/python docs/pictures.py

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv demo dist site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
