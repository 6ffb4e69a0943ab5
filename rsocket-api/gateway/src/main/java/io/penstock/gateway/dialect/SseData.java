package io.penstock.gateway.dialect;

import io.netty.buffer.ByteBuf;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// The data of server-sent events, line by line, however the bytes are cut. Lines that are not `data:` are skipped;
/// engines write one such line for each event. One stream; not safe for use by several threads at once.
final class SseData {
  private static final int FIRST_SIZE = 512;
  private static final int FIELD = 5;

  private final int limit;
  private byte[] rest = new byte[FIRST_SIZE];
  private int used;

  /// @param limit how many bytes a line may have
  SseData(int limit) {
    this.limit = limit;
  }

  /// The data of the lines that end in these bytes.
  ///
  /// @throws LegFailure.AnswerLimit if a line is longer than the limit
  List<String> take(ByteBuf bytes) {
    List<String> data = new ArrayList<>(2);
    while (bytes.isReadable()) {
      int length = bytes.bytesBefore((byte) '\n');
      if (length < 0) {
        append(bytes, bytes.readableBytes());
      } else {
        append(bytes, length);
        bytes.skipBytes(1);
        endLine(data);
      }
    }
    return data;
  }

  private void append(ByteBuf bytes, int length) {
    if (used + length > limit) {
      throw new LegFailure.AnswerLimit("line of a stream", limit);
    }
    if (used + length > rest.length) {
      rest = Arrays.copyOf(rest, Math.min(limit, Math.max(2 * rest.length, used + length)));
    }
    bytes.readBytes(rest, used, length);
    used += length;
  }

  private void endLine(List<String> data) {
    int end = used > 0 && rest[used - 1] == '\r' ? used - 1 : used;
    used = 0;
    if (end < FIELD || rest[0] != 'd' || rest[1] != 'a' || rest[2] != 't' || rest[3] != 'a' || rest[4] != ':') {
      return;
    }
    int start = end > FIELD && rest[FIELD] == ' ' ? FIELD + 1 : FIELD;
    data.add(new String(rest, start, end - start, StandardCharsets.UTF_8));
  }
}
