package io.penstock.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/// The README's example is the source that is compiled and tested.
final class ReadmeTest {
  private static final Path MODULE = Path.of(System.getProperty("basedir", "")).toAbsolutePath();
  private static final Path SOURCE = MODULE.resolve("src/main/java/io/penstock/examples/hello/Hello.java");
  private static final String MARK = "// README";

  @Test
  void readme_showsTheMarkedPartsOfHello() throws IOException {
    String readme = Files.readString(MODULE.resolveSibling("README.md"));

    assertThat(readme).contains("```java\n" + String.join("\n", marked(Files.readAllLines(SOURCE))) + "```\n");
  }

  @Test
  void readme_isShort() throws IOException {
    assertThat(Files.readAllLines(MODULE.resolveSibling("README.md"))).hasSizeLessThanOrEqualTo(200);
  }

  /// The parts between the marks, each without its indentation.
  private static List<String> marked(List<String> lines) {
    List<String> parts = new ArrayList<>();
    List<String> part = null;
    for (String line : lines) {
      if (!line.strip().equals(MARK)) {
        if (part != null) {
          part.add(line);
        }
      } else if (part == null) {
        part = new ArrayList<>();
      } else {
        parts.add(String.join("\n", part).stripIndent() + "\n");
        part = null;
      }
    }
    return parts;
  }
}
