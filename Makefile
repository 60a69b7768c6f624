PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
DEMO := .venv/ready-for-demo
INSTALL := -m pip install --disable-pip-version-check --constraint constraints.txt --editable

.PHONY: demo test test-slow check docs format bench pictures clean

# A tour. First a trained model is opened, scored and drawn; then two methods are trained and compared.
demo: $(DEMO)
	$(BIN)/unweave zoo list
	$(BIN)/python examples/first_look.py
	@echo 'Look at demo/interventions.png: each latent of the model changes one thing, such as the hue of the floor.'
	@echo 'Now a β-VAE and an Ada-GVAE are trained on three moving squares, in two to five minutes on two cores.'
	$(BIN)/unweave study run examples/squares.toml --store demo/runs --workers 2
	$(BIN)/python examples/compare_methods.py
	@echo 'The Ada-GVAE has the higher MIG, DCI and SAP: in demo/mutual_information.png four of six coordinates have their latent.'
	@echo 'Open demo/report.html and demo/zoo.html, then move the latents in the browser, or train a model yourself:'
	@echo '  $(BIN)/unweave explore zoo:qlae-shapes3d-drawn'
	@echo '  $(BIN)/unweave train --from zoo:qlae-shapes3d-drawn --seed 2'

test: $(READY)
	$(BIN)/pytest -n 2 -rs

test-slow: $(READY)
	$(BIN)/pytest -m slow

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The site, in site/, where a broken link is an error. The variable silences an advertisement.
docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

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

# What the demo needs, without tests, docs, Ray and Lightning; pip shows its progress.
$(DEMO): pyproject.toml constraints.txt
	@echo 'Installing what the demo needs into .venv; this takes a minute or two, once.'
	$(PYTHON) -m venv .venv
	$(BIN)/python $(INSTALL) '.[demo]'
	touch $@

$(READY): pyproject.toml constraints.txt
	@echo 'Installing what development and tests need into .venv; this takes some minutes, once.'
	$(PYTHON) -m venv .venv
	$(BIN)/python $(INSTALL) '.[dev]'
	touch $@ $(DEMO)

clean:
	rm -rf .venv demo dist site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
