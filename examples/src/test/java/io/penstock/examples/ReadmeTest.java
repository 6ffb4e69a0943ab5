package io.penstock.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/// The README's example is the source that is compiled and tested.
final class ReadmeTest {
  private static final Path MODULE = Path.of(System.getProperty("basedir", "")).toAbsolutePath();
  private static final Path SOURCE = MODULE.resolve("src/main/java/io/penstock/examples/hello/Hello.java");

  @Test
  void readme_showsHelloWithItsImports() throws IOException {
    String source = Files.readString(SOURCE);

    assertThat(Files.readString(MODULE.resolveSibling("README.md")))
        .contains("```java\n" + source.substring(source.indexOf("import ")) + "```\n");
  }

  @Test
  void readme_isShort() throws IOException {
    assertThat(Files.readAllLines(MODULE.resolveSibling("README.md"))).hasSizeLessThanOrEqualTo(200);
  }
}
