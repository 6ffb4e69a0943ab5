package io.penstock.node.client;

import io.penstock.block.BlockKey;
import io.penstock.node.cli.InputFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// A file of the promises of receipts, a line each [Ack]. Each line is handed to the system at once: it outlives this
/// process, however that ends.
final class AckFile implements AutoCloseable {
  private final FileChannel file;

  private AckFile(FileChannel file) {
    this.file = file;
  }

  /// Opens `path` for appending, and creates it if it is missing. Half a line at the end, left by a writer that was
  /// stopped, is removed.
  static AckFile append(Path path) throws IOException {
    FileChannel file =
        FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    file.position(file.truncate(wholeLines(file)).size());
    return new AckFile(file);
  }

  private static long wholeLines(FileChannel file) throws IOException {
    ByteBuffer one = ByteBuffer.allocate(1);
    long end = file.size();
    while (end > 0) {
      file.read(one.clear(), end - 1);
      if (one.get(0) == '\n') {
        return end;
      }
      end--;
    }
    return 0;
  }

  /// Appends all of `acks` in one write.
  void add(Stream<Ack> acks) throws IOException {
    ByteBuffer bytes =
        ByteBuffer.wrap(acks.map(Ack::line).collect(Collectors.joining()).getBytes(StandardCharsets.UTF_8));
    while (bytes.hasRemaining()) {
      file.write(bytes);
    }
  }

  /// Promise for each block; the strongest one if there were several. Half a line at the end is no promise.
  ///
  /// @throws io.penstock.node.cli.DataException if a line is no ack
  static Map<BlockKey, Promise> read(String path) throws IOException {
    Map<BlockKey, Promise> promised = new LinkedHashMap<>();
    String all = InputFile.text(path);
    int number = 0;
    for (int from = 0, end = all.indexOf('\n'); end >= 0; from = end + 1, end = all.indexOf('\n', from)) {
      number++;
      Ack ack = Ack.read(all.substring(from, end), path + ", line " + number);
      promised.merge(ack.blockKey(), ack.promise(), (one, other) -> one.compareTo(other) > 0 ? one : other);
    }
    return promised;
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
