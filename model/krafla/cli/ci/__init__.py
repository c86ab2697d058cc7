"""What verdict commands tell CI systems: JUnit XML, annotations of GitHub, SARIF."""
