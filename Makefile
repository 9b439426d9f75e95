# What a newcomer types; `make` or `make help` lists it. Everything is installed into .venv, and only when it changed.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

RUST := Cargo.toml Cargo.lock pyproject.toml $(shell find crates -name '*.rs' -o -name '*.md' -o -name '*.toml')
# The page's own sources, without what is written beside them.
PAGE := $(shell find web -name node_modules -prune -o -name dist -prune -o -name public -prune -o -type f -print) web/public/icon.svg

LINTS := lint-rust lint-python lint-page
TESTS := test-rust test-page test-python

.PHONY: help demo test lint $(LINTS) $(TESTS) bench ledger page validate linux docs picture screenshots guide clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(VENV)/installed ## Show a rack that collapses and what fixes it, then reproduce SDTCP's Figure 9 with two seeds
	$(BIN)/fanin run tour/rack
	$(BIN)/fanin run tour/rack --set traffic.reads.concurrent=3 --no-try
	$(BIN)/fanin reproduce sdtcp/fig9 --seeds 1,2
	@echo
	@echo 'You saw a rack that collapses, a client that fixes it by asking for 3 answers at once, and a published figure.'
	@echo 'The figure is results/sdtcp/fig9/goodput.svg; its data and verdicts lie beside it.'
	@echo 'Next: source .venv/bin/activate && fanin advise tour/rack'

test: $(TESTS) ## Run all tests, Rust and Python

test-rust:
	PROPTEST_RNG_SEED=1 cargo test --workspace --exclude fanin-python --exclude fanin-extension

test-page:
	if web/ready; then $(MAKE) page && cd web && npm test && npm run test:browser; fi

# Files begin in the order of their names: by default xdist keeps those with few tests for the end, and these are long.
test-python: $(VENV)/installed-dev
	$(BIN)/pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

lint: $(LINTS) ## Check formats, lints and types

lint-rust:
	cargo fmt --check
	cargo clippy --workspace --all-targets -- --deny warnings

lint-python: $(VENV)/installed-dev
	$(BIN)/ruff format --check python
	$(BIN)/ruff check python
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m mypy.stubtest fanin._engine

lint-page:
	if web/ready; then $(MAKE) web/node_modules/.package-lock.json && cd web && npm run lint; fi

bench: $(VENV)/installed ## Measure the engine (time and instructions per packet-hop, memory, ns-3's time), sweeps, schemes in Python and the start of commands
	$(BIN)/python python/benches/start.py
	$(BIN)/python python/benches/sweeps.py
	$(BIN)/python python/benches/own.py
	cargo bench --profile wheel --package fanin-engine --bench schemes
	if command -v valgrind >/dev/null; then crates/engine/benches/instructions.sh; fi
	if [ -x validation/ns3/incast ]; then $(PYTHON) validation/ns3/speed.py; \
	else echo 'not compared with ns-3: validation/ns3/build.sh builds it (300 MB to fetch), then make bench again'; fi
	cargo bench --profile wheel --package fanin-engine --bench scale
	cargo bench --profile wheel --package fanin-engine --bench scale -- --check
	cargo bench --profile wheel --package fanin-engine --bench hops -- --check
	cargo bench --profile wheel --package fanin-engine --bench buffers -- --check

ledger: $(VENV)/installed ## Write what the page and docs/papers show of results/ anew, after `fanin reproduce --all`
	$(BIN)/python -m fanin.show.page_data results docs web/ledger.json.xz
	$(BIN)/fanin ranking cross --page docs/papers/ranking.md

page: python/fanin/page/report/report.js ## Build the page: the engine for browsers, then the front end and that of reports, into web/dist, and for wheels into the package

python/fanin/page/report/report.js: web/node_modules/.package-lock.json web/public/fanin.wasm $(PAGE)
	cd web && npm run build
	rm -rf python/fanin/page && cp -r web/dist python/fanin/page

web/public/fanin.wasm: $(RUST)
	crates/wasm/build.sh

web/node_modules/.package-lock.json: web/package-lock.json
	@command -v npm >/dev/null || { echo 'the page needs Node 20.19 or newer: install it from https://nodejs.org, then run make page again'; exit 1; }
	cd web && npm ci
	touch $@

validate: $(VENV)/installed ## Compare with ns-3 (fetches 300 MB and builds a driver the first time) and with the Linux kernel
	validation/ns3/build.sh
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python validation/ns3/compare.py --rerun --document
	$(BIN)/python validation/linux/compare.py

linux: ## Build Linux as a program that runs scenarios (ten minutes, once), for --backend linux
	linux/build.sh

docs: $(VENV)/installed-dev ## Build the documentation into site/, which opens from the disk; a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

picture: $(VENV)/installed ## Draw the README's picture anew
	$(BIN)/fanin reproduce tour/collapse
	mkdir -p docs/pictures
	cp results/tour/collapse/goodput.svg docs/pictures/goodput-collapse.svg

screenshots: page ## Draw the README's pictures of the page anew (needs Chromium)
	cd web && npm run screenshots

guide: $(VENV)/installed-dev ## Run the commands of the README, tutorials and guides, and write their outputs into them (half an hour; make linux before)
	$(BIN)/python docs/guides/regenerate.py README.md docs/tutorials/*.md docs/guides/*.md docs/papers/linux.md

clean: ## Remove what was built and installed, and the results
	rm -rf $(VENV) target results site web/dist python/fanin/page web/node_modules web/public/fanin.wasm web/public/data validation/ns3/.venv validation/ns3/incast validation/ns3/fabric

$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "fanin needs Python 3.11 or newer: make PYTHON=python3.12")'
	@command -v cargo >/dev/null || { echo 'fanin needs Rust (cargo): install it with rustup'; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2'
	touch $@

$(VENV)/installed: $(VENV)/created $(RUST)
	$(BIN)/maturin develop --release --extras serve
	touch $@

# Has what the other has, too.
$(VENV)/installed-dev: $(VENV)/created $(RUST)
	$(BIN)/maturin develop --release --extras dev
	touch $(VENV)/installed $@
