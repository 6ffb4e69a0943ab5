package io.penstock.storage.engine;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/// The files of a journal, for those who look after them while no engine has it open. Nobody can open it meanwhile.
public final class JournalFiles implements AutoCloseable {
  private static final String PREFIX = "penstock journal, format " + EngineDirectory.VERSION + ", engine ";
  private static final int RUNS = 2; // engines lay segments into the directory itself, or into one for each run

  private final Path directory;
  private final Frames frames;
  private final AutoCloseable lock;

  /// The file of one segment.
  ///
  /// @param number of the segment
  /// @param path of its file
  public record Stored(int number, Path path) {}

  private JournalFiles(Path directory, Frames frames, AutoCloseable lock) {
    this.directory = directory;
    this.frames = frames;
    this.lock = lock;
  }

  /// Takes a journal to read its files; others may read them, too. Changes nothing.
  ///
  /// @throws JournalFormatException if there is no journal, or one of another version
  /// @throws DirectoryLockedException if somebody writes it
  public static JournalFiles reading(Path directory) {
    Frames frames = frames(directory);
    try {
      return new JournalFiles(directory, frames, share(directory));
    } catch (IOException e) {
      throw new StorageFailedException("open journal " + directory, e);
    }
  }

  /// Takes a journal to change its files.
  ///
  /// @throws JournalFormatException if there is no journal, or one of another version
  /// @throws DirectoryLockedException if somebody else has it
  public static JournalFiles writing(Path directory) {
    Frames frames = frames(directory);
    return new JournalFiles(directory, frames, EngineDirectory.open(directory, frames.engine()));
  }

  private static Frames frames(Path directory) {
    String format = format(directory);
    Frames frames = Frames.of(format.startsWith(PREFIX) ? format.substring(PREFIX.length()).strip() : "");
    if (frames == null) {
      throw new JournalFormatException("journal " + directory, "`" + PREFIX + "plain` or `chronicle`",
          "`" + format.substring(0, Math.min(format.length(), 80)).strip() + "`");
    }
    return frames;
  }

  private static String format(Path directory) {
    try {
      return EngineDirectory.format(directory);
    } catch (NoSuchFileException e) {
      throw new JournalFormatException("journal " + directory, "a folder that holds one, with its file `format`",
          "none");
    } catch (IOException e) {
      throw new StorageFailedException("open journal " + directory, e);
    }
  }

  private static AutoCloseable share(Path directory) throws IOException {
    Path file = directory.resolve(EngineDirectory.LOCK);
    if (!Files.exists(file)) {
      return () -> {}; // nobody ever wrote here, or a copy without it
    }
    FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
    FileLock lock = EngineDirectory.tryLock(channel, true);
    if (lock == null) {
      String holder = EngineDirectory.holder(channel);
      channel.close();
      throw new DirectoryLockedException(directory.toString(), holder);
    }
    return channel; // and the lock with it
  }

  /// Has the system write all files of the journal in `directory`, which nobody has open, and forget them: whoever
  /// reads them next waits for the medium. Where the system does not know how, nothing is forgotten.
  public static void letGo(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory, RUNS)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        EngineDirectory.force(file);
        NativePages.letGoAll(file);
      }
    }
  }

  public Path directory() {
    return directory;
  }

  public Frames frames() {
    return frames;
  }

  /// The segments there are, in the order of writing.
  public List<Stored> segments() {
    List<Stored> found = new ArrayList<>();
    try (Stream<Path> files = Files.walk(directory, RUNS)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        int number = isHome(file) ? frames.segment(file) : 0;
        if (number > 0) {
          found.add(new Stored(number, file));
        }
      }
    } catch (IOException e) {
      throw new StorageFailedException("list journal " + directory, e);
    }
    found.sort(Comparator.comparingInt(Stored::number));
    return found;
  }

  private boolean isHome(Path file) {
    Path name = directory.relativize(file);
    return frames.isHome(name.getNameCount() < 2 ? "" : name.getName(0).toString());
  }

  @Override
  public void close() {
    try {
      lock.close();
    } catch (Exception e) {
      throw new StorageFailedException("close journal " + directory,
          e instanceof IOException io ? io : new IOException(e));
    }
  }
}
