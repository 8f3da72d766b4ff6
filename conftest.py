pytest_plugins = ["specs.harness.plugin"]
