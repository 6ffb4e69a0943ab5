package io.penstock.storage;

import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// An engine on files of which it is known what a failure of the machine would leave: what was there when the last sync
/// ended, and of what came later, page by page and name by name, the new, the old, or nothing. Checkpoints, which are
/// forced before they get their name, are there whole or not at all.
final class PowerLoss extends WrappedEngine {
  private static final int PAGE_BYTES = 4096;

  private final Path directory;
  private final Runnable step;
  private Runnable afterSync = () -> {};
  private Map<String, byte[]> medium;

  /// @param directory of `engine`; what is there now is on the medium
  /// @param step before each thing that the engine does
  PowerLoss(SegmentEngine engine, Path directory, Map<String, byte[]> medium, Runnable step) {
    super(engine);
    this.directory = directory;
    this.medium = medium;
    this.step = step;
  }

  void afterSync(Runnable task) {
    afterSync = task;
  }

  /// All files below `directory`, by their names there.
  static Map<String, byte[]> files(Path directory) {
    Map<String, byte[]> found = new TreeMap<>();
    if (!Files.exists(directory)) {
      return found;
    }
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        found.put(directory.relativize(file).toString(), Files.readAllBytes(file));
      }
      return found;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Writes to `target` what a failure of the machine would leave now.
  ///
  /// @param kept the chance of each page, and of each name, that was not forced
  void cut(Path target, Random random, double kept) {
    Map<String, byte[]> now = files(directory);
    Map<String, byte[]> left = new TreeMap<>();
    now.forEach((name, bytes) -> {
      byte[] old = medium.get(name);
      if (old != null || isForcedByItself(name) || random.nextDouble() < kept) {
        boolean whole = old == null && (isForcedByItself(name) || name.startsWith("checkpoint-"));
        left.put(name, whole ? bytes : mixed(old, bytes, random, kept));
      }
    });
    medium.forEach((name, old) -> {
      if (!now.containsKey(name) && random.nextDouble() >= kept) {
        left.put(name, old); // deleted, and not forced
      }
    });
    try {
      for (Map.Entry<String, byte[]> each : left.entrySet()) {
        Path file = target.resolve(each.getKey());
        Files.createDirectories(file.getParent());
        Files.write(file, each.getValue());
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Made when a directory is opened for the first time, and forced before anything else.
  private static boolean isForcedByItself(String name) {
    return name.equals("format") || name.equals("lock");
  }

  private static byte[] mixed(byte @Nullable [] old, byte[] now, Random random, double kept) {
    if (old != null && Arrays.equals(old, now)) {
      return now;
    }
    byte[] bytes = Arrays.copyOf(old == null ? new byte[0] : old, now.length);
    for (int from = 0; from < now.length; from += PAGE_BYTES) {
      if (random.nextDouble() < kept) {
        System.arraycopy(now, from, bytes, from, Math.min(PAGE_BYTES, now.length - from));
      }
    }
    boolean shorter = old == null && random.nextDouble() >= kept; // its new length is not on the medium either
    return shorter ? Arrays.copyOf(bytes, random.nextInt(now.length + 1)) : bytes;
  }

  @Override
  public Path directory() {
    return directory;
  }

  @Override
  public Location append(MemorySegment... parts) {
    step.run();
    return super.append(parts);
  }

  @Override
  public void delete(int segment) {
    step.run();
    super.delete(segment);
    step.run();
  }

  @Override
  public void roll() {
    step.run();
    super.roll();
  }

  @Override
  public void sync() {
    step.run();
    super.sync();
    medium = files(directory);
    afterSync.run();
    step.run();
  }
}
