# `make` alone lists the targets. To use the package, you need none of them: `swift build` and `swift test` suffice.

.PHONY: help build test standin sanitize exhaustive kills mutations stories trees oldest nightly lint layers claims articles documentation names format performance benchmarks demo check clean

help:
	@echo 'make build         build the libraries and their tests'
	@echo 'make test          run the tests'
	@echo 'make exhaustive    run the tests with every case instead of a sample'
	@echo 'make sanitize      run the tests under the thread and the address sanitizer'
	@echo 'make kills         kill and close engines during work, 2000 times each'
	@echo 'make mutations     open 10000 damaged states and clouds with valid checksums'
	@echo 'make stories       run 3000 random stories, scheduled by a seed'
	@echo 'make trees         code 100000 random values of random types'
	@echo 'make oldest        compile without the attributes that the oldest supported toolchain lacks'
	@echo 'make lint          check format, layers, lengths, privacy manifest'
	@echo 'make layers        check which folder uses which, and the check itself'
	@echo 'make claims        check that guarantees name tests, and links lead somewhere'
	@echo 'make articles      compile the code of the README and the articles'
	@echo 'make standin       build and test the CloudKit adapter on stand-ins for Apple frameworks (Linux)'
	@echo 'make documentation build the documentation site in .build/documentation'
	@echo 'make names         compare the public names with Documentation/PublicNames.txt'
	@echo 'make format        format all Swift files in place'
	@echo 'make performance   check the counts of instructions and allocations (Linux, valgrind)'
	@echo 'make benchmarks    measure, and write Documentation/Performance.md'
	@echo 'make demo          run the example: two devices and a cloud'
	@echo 'make check         run everything that must pass before a change is merged'
	@echo 'make nightly       run everything that takes too long for that, and print a table'
	@echo 'make clean         remove build products'

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

oldest:
	@Scripts/check-oldest-toolchain

nightly:
	@Scripts/nightly

lint:
	@Scripts/lint

layers:
	@Scripts/check-layers
	@Scripts/check-layers --self-test

claims:
	@Scripts/check-claims

articles:
	@Scripts/check-articles

documentation:
	@Scripts/documentation .build/documentation

names:
	@Scripts/check-public-names

standin:
	@swift build --package-path Tests/CloudKitStandIn --build-tests
	@Scripts/check-stand-in
	@Scripts/check-availability --self-test
	@swift test --package-path Tests/CloudKitStandIn --skip-build

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
	rm -rf .build .build-thread .build-address Example/.build Example/RecordServer/.build Benchmarks/.build Benchmarks/Counts/.build Tests/CloudKitStandIn/.build
