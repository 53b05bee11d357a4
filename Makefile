# `make` alone lists what can be made. Nothing here is needed to use the package: `swift build` and `swift test` do.

.PHONY: help build test standin sanitize exhaustive kills mutations stories trees lint layers claims articles names format performance benchmarks demo check clean

help:
	@echo 'make build    builds the libraries and their tests'
	@echo 'make test     runs the tests'
	@echo 'make exhaustive runs the tests with every case of what they otherwise take a sample of'
	@echo 'make sanitize runs the tests under the thread and the address sanitizer'
	@echo 'make kills    kills and closes engines in the middle of their work, 2000 times each'
	@echo 'make mutations  opens 10000 damaged states and clouds whose checksums hold'
	@echo 'make stories  runs 3000 stories in which a seed decides which job of which engine comes next'
	@echo 'make trees    codes 100000 random values of random types'
	@echo 'make lint     checks format, layers and lengths of files'
	@echo 'make layers   checks who uses whom, and that the check itself works'
	@echo 'make claims   checks that the documentation names tests and files that exist'
	@echo 'make articles compiles the code in the README and the articles, each page as one file'
	@echo 'make standin  builds and tests the adapter for CloudKit on stand-ins for Apple frameworks, and checks the DocC pages (Linux)'
	@echo 'make names    compares the public names with Documentation/PublicNames.txt'
	@echo 'make format   formats all Swift files in place'
	@echo 'make performance  counts instructions and allocations, and holds them against their limits (Linux, valgrind)'
	@echo 'make benchmarks   times everything, and writes Documentation/Performance.md'
	@echo 'make demo     two devices, one cloud: the story of this project'
	@echo 'make check    all that is checked before a change is taken in'
	@echo 'make clean    removes what builds have left'

build:
	swift build --build-tests

test:
	swift test

exhaustive:
	EXHAUSTIVE=1 swift test

sanitize:
	@Scripts/check-sanitizers

kills:
	@Scripts/check-kills

mutations:
	@Scripts/check-mutations

stories:
	@Scripts/check-stories

trees:
	@Scripts/check-trees

lint:
	@Scripts/lint

layers:
	@Scripts/check-layers
	@Scripts/check-layers --self-test

claims:
	@Scripts/check-claims

articles:
	@Scripts/check-articles

names:
	@Scripts/check-public-names

standin:
	@Scripts/check-warnings Tests/CloudKitStandIn
	@Scripts/check-stand-in
	@Scripts/check-documentation
	@swift test --package-path Tests/CloudKitStandIn

format:
	@Scripts/swift-files | tr '\n' '\0' | xargs -0 swift format --in-place --parallel

performance:
	@Scripts/check-performance

benchmarks:
	@Scripts/measure-performance

demo:
	swift run --package-path Example landmarks demo

check:
	@.ci/run

clean:
	rm -rf .build .build-thread .build-address Example/.build Benchmarks/.build
