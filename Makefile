# Names for what scripts/ and the go command do; `make` lists them.
.DEFAULT_GOAL := help
.PHONY: help build test lint fmt fuzz generate bench demo

help: ## list the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12
build: ## bin/seqlease
	go build -o bin/seqlease ./cmd/seqlease
test: ## every test, with the race detector, on both stores
	scripts/test
lint: ## formatting, vet, linters, generated code in step
	scripts/lint
fmt: ## format all code
	"$$(scripts/tools)/golangci-lint" fmt ./...
fuzz: ## every fuzz target for 30 s
	scripts/fuzz 30s
generate: ## rewrite generated code
	scripts/generate
bench: ## micro-benchmarks
	go test -run '^$$' -bench . -benchmem ./...
demo: ## the main job on real genomes
	go run ./cmd/seqlease demo
