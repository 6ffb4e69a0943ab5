package io.penstock.block;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;

/// Reads vector files: one case a line, columns separated by tabs, `#` before a comment.
final class Vectors {
  private Vectors() {}

  static List<List<String>> read(String name) {
    try (InputStream in = Objects.requireNonNull(Vectors.class.getResourceAsStream("/" + name), name)) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines()
          .filter(line -> !line.startsWith("#"))
          .map(line -> List.of(line.split("\t", -1)))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
