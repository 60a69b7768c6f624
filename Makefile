PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: demo test test-slow check format bench pictures clean

# A tour of the data, the training and the metrics: every command below can be typed as it stands.
demo: $(READY)
	$(BIN)/unweave data list
	$(BIN)/unweave data show dsprites --out demo/dsprites.png
	$(BIN)/unweave data show rooms3d --out demo/rooms3d.png
	$(BIN)/unweave data distances dsprites --out demo/dsprites-distances.png
	$(BIN)/unweave data distances xysquares --out demo/xysquares-distances.png
	$(BIN)/unweave recipes list
	$(BIN)/python examples/compare_methods.py
	$(BIN)/unweave runs list --store demo/runs
	@echo 'The first two tables are Table A1 of Michlo et al. 2023: dSprites as published, XYSquares 0.0104 and 0.0308.'
	@echo 'The last ones: a linear code and a VAE mix the factors; a VAE that sees pairs parts place and size, a latent each.'
	@echo 'Contact sheets, distance matrices, reconstructions and traversals are in demo/; train longer, or another method:'
	@echo '  $(BIN)/unweave train tripod rooms3d --net conv64 --steps 20000 --score --pictures demo'

test: $(READY)
	$(BIN)/pytest -n 2

test-slow: $(READY)
	$(BIN)/pytest -m slow

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY)
	$(BIN)/python benchmarks/data.py
	$(BIN)/python benchmarks/metrics.py
	$(BIN)/python benchmarks/training.py
	$(BIN)/python benchmarks/recipes.py

pictures: $(READY)
	$(BIN)/python docs/pictures.py

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv demo dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
