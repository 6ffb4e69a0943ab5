package io.penstock.storage.engine.file;

import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.MemoryDisk;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/// Flips bits on a medium behind its engine's back, as a failing disk would.
public final class Damage {
  private Damage() {}

  /// Flips a bit in every file below `directory`, `distance` bytes behind each place where `needle` lies.
  public static void inFiles(Path directory, byte[] needle, int distance) {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".log") || each.toString().endsWith(".cq4"))
          .toList()) {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
          byte[] bytes = Files.readAllBytes(file);
          for (int at : places(bytes, needle)) {
            bytes[at + distance] ^= 1;
            channel.write(ByteBuffer.wrap(bytes, at + distance, 1), at + (long) distance);
          }
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Has one byte of the record at `at` have another value.
  ///
  /// @param directory of a journal
  /// @param offset in the record
  public static void flip(Path directory, Location at, long offset, int bits) {
    String plain = PlainFormat.fileName(at.segment());
    String chronicle = ChronicleFormat.fileName(at.segment());
    try (Stream<Path> files = Files.walk(directory)) {
      Path file = files.filter(each -> each.endsWith(plain) || each.endsWith(chronicle)).findFirst().orElseThrow();
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
        ByteBuffer one = ByteBuffer.allocate(1);
        channel.read(one, at.offset() + offset);
        channel.write(one.put(0, (byte) (one.get(0) ^ bits)).flip(), at.offset() + offset);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// The same on a disk of memory.
  public static void inMemory(MemoryDisk disk, byte[] needle, int distance) {
    for (MemoryDisk.Log log : disk.logs.values()) {
      for (MemorySegment record : log.records.values()) {
        for (int at : places(record.toArray(ValueLayout.JAVA_BYTE), needle)) {
          record.set(ValueLayout.JAVA_BYTE, at + distance,
              (byte) (record.get(ValueLayout.JAVA_BYTE, at + distance) ^ 1));
        }
      }
    }
  }

  /// Places of `needle` with so much behind them that they are not those of a removal.
  private static List<Integer> places(byte[] bytes, byte[] needle) {
    List<Integer> places = new ArrayList<>();
    for (int i = 0; i + needle.length + 256 < bytes.length; i++) {
      if (Arrays.equals(bytes, i, i + needle.length, needle, 0, needle.length)) {
        places.add(i);
      }
    }
    return places;
  }
}
