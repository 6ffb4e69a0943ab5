package io.penstock.lab.torture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;

/// Log of a writer: a word and numbers, a line each, handed to the system before it continues. Any thread.
final class AckLog implements AutoCloseable {
  /// Statement about the blocks with the numbers that follow.
  enum Word {
    /// The blocks are about to be put.
    PUTS,
    /// Their receipts have come.
    STORED,
    /// The blocks are about to be removed.
    REMOVES,
    /// `flush()` completed.
    REMOVED,
    /// Their put was refused, for the journal is full or busy.
    REFUSED,
    /// A read of them gave other bytes than were put, or an error.
    WRONG
  }

  private final FileChannel file;

  private AckLog(FileChannel file) {
    this.file = file;
  }

  static AckLog create(Path path) throws IOException {
    return new AckLog(FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING,
        StandardOpenOption.WRITE));
  }

  synchronized void say(Word word, List<Long> numbers) {
    String line = word + numbers.stream().map(number -> " " + number).collect(Collectors.joining()) + "\n";
    ByteBuffer bytes = ByteBuffer.wrap(line.getBytes(StandardCharsets.US_ASCII));
    try {
      while (bytes.hasRemaining()) {
        file.write(bytes);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("could not write down an answer", e);
    }
  }

  /// Passes each complete line to `listener`, in order.
  static void read(Path path, BiConsumer<Word, List<Long>> listener) throws IOException {
    if (!Files.exists(path)) {
      return; // ended before it had anything to say
    }
    String all = Files.readString(path, StandardCharsets.US_ASCII);
    int from = 0;
    for (int end = all.indexOf('\n'); end >= 0; end = all.indexOf('\n', from)) {
      List<String> words = List.of(all.substring(from, end).split(" "));
      listener.accept(Word.valueOf(words.getFirst()), words.stream().skip(1).map(Long::valueOf).toList());
      from = end + 1;
    }
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
