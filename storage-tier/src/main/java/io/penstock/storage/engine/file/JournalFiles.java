package io.penstock.storage.engine.file;

import io.penstock.storage.engine.DurableFiles;
import io.penstock.storage.engine.EngineFailure.DirectoryLockedException;
import io.penstock.storage.engine.EngineFailure.JournalFormatException;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import io.penstock.storage.engine.NativePages;
import io.penstock.storage.engine.SegmentWindow;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The files of a journal that no engine has open, or can open.
public final class JournalFiles implements AutoCloseable {
  private static final String PREFIX = "penstock journal, format ";
  private static final String ENGINE = PREFIX + EngineDirectory.VERSION + ", engine ";
  private static final int RUNS = 2; // segments lie in the directory itself, or in a folder for each run

  private final Path directory;
  private final boolean isPlain;
  private final AutoCloseable lock;

  /// A segment's file.
  ///
  /// @param number of the segment
  /// @param path of its file
  public record Stored(int number, Path path) {}

  private JournalFiles(Path directory, boolean isPlain, AutoCloseable lock) {
    this.directory = directory;
    this.isPlain = isPlain;
    this.lock = lock;
  }

  /// Locks a journal for reading; other readers may, too. Changes nothing.
  ///
  /// @throws JournalFormatException if there is no journal, or one of another version, or its segments are those of
  ///     another engine
  /// @throws DirectoryLockedException if a process has it open
  public static JournalFiles reading(Path directory) {
    boolean isPlain = isPlain(directory);
    try {
      JournalFiles files = new JournalFiles(directory, isPlain, share(directory));
      try {
        files.requireOwn();
        return files;
      } catch (Throwable e) {
        files.close();
        throw e;
      }
    } catch (IOException e) {
      throw new StorageFailedException("open journal " + directory, e);
    }
  }

  /// Whether there is a journal in `directory`, of any version, or what is left of one.
  public static boolean isJournal(Path directory) {
    return EngineDirectory.isOne(directory)
        || (Files.isDirectory(directory) && Files.isReadable(directory) && hasSegments(directory));
  }

  private static boolean hasSegments(Path directory) {
    try (Stream<Path> files = Files.list(directory)) {
      return files.anyMatch(file -> PlainFormat.segment(file) > 0
          || ChronicleEngine.RUN.matcher(String.valueOf(file.getFileName())).matches());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Bytes of the files of a journal, which may be in use: those in `directory`, and in its folder for each run. What
  /// cannot be read, or goes meanwhile, counts as none.
  ///
  /// @param unread told each such file or folder
  public static long bytes(Path directory, BiConsumer<Path, IOException> unread) throws IOException {
    AtomicLong sum = new AtomicLong();
    Files.walkFileTree(directory, Set.of(), RUNS, new SimpleFileVisitor<>() {
      @Override
      public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes facts) {
        return folder.equals(directory) || ChronicleEngine.RUN.matcher(folder.getFileName().toString()).matches()
            ? FileVisitResult.CONTINUE
            : FileVisitResult.SKIP_SUBTREE; // another journal
      }

      @Override
      public FileVisitResult visitFile(Path file, BasicFileAttributes facts) {
        sum.addAndGet(facts.isRegularFile() ? facts.size() : 0);
        return FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult visitFileFailed(Path file, IOException failure) {
        unread.accept(file, failure);
        return FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult postVisitDirectory(Path folder, @Nullable IOException failure) {
        if (failure != null) {
          unread.accept(folder, failure);
        }
        return FileVisitResult.CONTINUE;
      }
    });
    return sum.get();
  }

  private static boolean isPlain(Path directory) {
    String format = format(directory);
    String engine = format.startsWith(ENGINE) ? format.substring(ENGINE.length()).strip() : "";
    if (!engine.equals(PlainEngine.NAME) && !engine.equals(ChronicleEngine.NAME)) {
      throw new JournalFormatException("journal " + directory, "`" + ENGINE + "plain` or `chronicle`",
          "`" + format.substring(0, Math.min(format.length(), 80)).strip() + "`");
    }
    return engine.equals(PlainEngine.NAME);
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

  private void requireOwn() {
    if (!segments(directory, !isPlain).isEmpty()) {
      throw new JournalFormatException("engine in file `format` of journal " + directory,
          (isPlain ? ChronicleEngine.NAME : PlainEngine.NAME) + ", whose segments are there", engine());
    }
  }

  private static AutoCloseable share(Path directory) throws IOException {
    Path file = directory.resolve(EngineDirectory.LOCK);
    if (!Files.exists(file)) {
      return () -> {}; // never opened, or copied without the lock
    }
    return LockFile.share(directory, EngineDirectory.LOCK);
  }

  /// Writes all files of a closed journal to the medium, and takes them out of the page cache: the next reader waits
  /// for the medium. Does nothing where the system has no such call.
  public static void letGo(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory, RUNS)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        DurableFiles.force(file);
        NativePages.letGoAll(file);
      }
    }
  }

  public Path directory() {
    return directory;
  }

  /// The segments of a Chronicle log that a process may be writing, in the order of writing. Takes no lock.
  public static List<Stored> written(Path directory) {
    return segments(directory, false);
  }

  /// Opens a segment of [#written].
  public static SegmentWindow chronicleWindow(Stored segment) {
    return ChronicleFormat.window(SegmentWindow.open(segment.path()));
  }

  /// Name of the engine that wrote the journal.
  public String engine() {
    return isPlain ? PlainEngine.NAME : ChronicleEngine.NAME;
  }

  /// Sets the start of records in a segment's `file`.
  public SegmentWindow window(SegmentWindow file) {
    return isPlain ? SegmentHead.window(file) : ChronicleFormat.window(file);
  }

  /// The segments in the order of writing. A folder or a dangling link may have the name of one.
  public List<Stored> segments() {
    return segments(directory, isPlain);
  }

  /// The segments in `directory` of the one engine or the other, in the order of writing.
  static List<Stored> segments(Path directory, boolean plain) {
    List<Stored> found = new ArrayList<>();
    try (Stream<Path> files = Files.walk(directory, RUNS)) {
      for (Path file : files.toList()) {
        int number = isHome(directory.relativize(file), plain) ? number(file, plain) : 0;
        if (number > 0) {
          found.add(new Stored(number, file));
        }
      }
    } catch (IOException | UncheckedIOException e) {
      throw new StorageFailedException("list journal " + directory,
          e instanceof IOException io ? io : new IOException(e));
    }
    found.sort(Comparator.comparingInt(Stored::number));
    return found;
  }

  private static int number(Path file, boolean plain) {
    return plain ? PlainFormat.segment(file) : ChronicleFormat.segment(file);
  }

  private static boolean isHome(Path name, boolean plain) {
    String folder = name.getNameCount() < 2 ? "" : name.getName(0).toString();
    return plain ? folder.isEmpty() : ChronicleEngine.RUN.matcher(folder).matches();
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
