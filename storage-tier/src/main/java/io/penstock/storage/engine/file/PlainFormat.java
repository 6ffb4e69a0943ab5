package io.penstock.storage.engine.file;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32C;

/// Names of the files of [PlainEngine].
final class PlainFormat {
  private static final Pattern NAME = Pattern.compile("segment-(\\d{10})\\.log");

  private PlainFormat() {}

  static String fileName(int segment) {
    return "segment-%010d.log".formatted(segment);
  }

  /// The segment of a file name; 0 if it is not the name of a segment.
  static int segment(Path file) {
    Matcher name = NAME.matcher(file.getFileName().toString());
    return name.matches() && Long.parseLong(name.group(1)) <= Integer.MAX_VALUE
        ? (int) Long.parseLong(name.group(1))
        : 0;
  }
}
