package io.penstock.storage.engine;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
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

  /// The number that a file name stands for; 0 if it is none of ours.
  static int segment(Path file) {
    Matcher name = NAME.matcher(file.getFileName().toString());
    return name.matches() && Long.parseLong(name.group(1)) <= Integer.MAX_VALUE
        ? (int) Long.parseLong(name.group(1))
        : 0;
  }

  static ByteBuffer direct(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
