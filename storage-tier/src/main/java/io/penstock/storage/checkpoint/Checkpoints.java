package io.penstock.storage.checkpoint;

import io.penstock.storage.engine.DurableFiles;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The checkpoints of one journal: files beside its segments.
public final class Checkpoints {
  private static final Pattern NAME = Pattern.compile("checkpoint-(\\d{10})(\\.new)?");

  private final Path directory;

  public Checkpoints(Path directory) {
    this.directory = directory;
  }

  private Path file(int segment) {
    return directory.resolve("checkpoint-%010d".formatted(segment));
  }

  /// Whether there is a checkpoint of `segment`, intact or not.
  public boolean exists(int segment) {
    return Files.exists(file(segment));
  }

  /// The records of `segment` in the order of writing; null if there is no intact checkpoint.
  public @Nullable List<RecordSummary> read(int segment) {
    try {
      return exists(segment)
          ? CheckpointFormat.decode(ByteBuffer.wrap(Files.readAllBytes(file(segment))), segment)
          : null;
    } catch (IOException e) {
      return null; // an opening does without
    }
  }

  /// Writes a checkpoint: a reader sees all of it or none. If the disk refuses, there is none.
  ///
  /// @param records of `segment`, one or more, of one space, in the order of writing
  /// @param forced whether its bytes are on the medium when this returns
  public void write(int segment, List<RecordSummary> records, boolean forced) {
    try {
      DurableFiles.replace(file(segment),
          CheckpointFormat.encode(segment, records.getFirst().key().space(), records), forced);
    } catch (IOException e) {
      // the next opening walks the segment
    }
  }

  public void delete(int segment) {
    try {
      Files.deleteIfExists(file(segment));
    } catch (IOException e) {
      throw new StorageFailedException("delete checkpoint of segment " + segment + " in " + directory, e);
    }
  }

  /// Deletes checkpoints that are not of one of `segments`.
  public void retain(Collection<Integer> segments) {
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.toList()) {
        Matcher name = NAME.matcher(file.getFileName().toString());
        if (name.matches() && (name.group(2) != null || !segments.contains(number(name.group(1))))) {
          Files.deleteIfExists(file);
        }
      }
    } catch (IOException e) {
      throw new StorageFailedException("delete checkpoints in " + directory, e);
    }
  }

  private static int number(String digits) {
    return (int) Math.min(Integer.MAX_VALUE, Long.parseLong(digits));
  }
}
