PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: demo test test-slow check docs format bench pictures clean

# A tour: the data, three methods trained and compared, a report and pictures. Every command can also be run by hand.
demo: $(READY)
	$(BIN)/unweave data list
	$(BIN)/unweave data show rooms3d --out demo/rooms3d.png
	$(BIN)/python examples/compare_methods.py
	$(BIN)/unweave runs list --store demo/runs
	@echo 'The latents of the QLAE follow single factors more than those of PCA and of the β-VAE: compare InfoM.'
	@echo 'Open demo/report.html, and demo/interventions.png: what each latent of the QLAE does, and which factor it follows.'
	@echo 'Then move the latents in the browser, or train longer:'
	@echo '  $(BIN)/unweave explore demo/runs'
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
	$(BIN)/python benchmarks/studies.py
	$(BIN)/python benchmarks/page.py
	$(BIN)/python benchmarks/cost.py
	$(BIN)/python benchmarks/targets.py

pictures: $(READY)
	$(BIN)/python docs/pictures.py

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf .venv demo dist site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
