package io.penstock.storage.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class QuarantineIndexTest {
  private static final int ROOM = 4;

  private final ByteArrayOutputStream written = new ByteArrayOutputStream();
  private final WritableByteChannel medium = Channels.newChannel(written);
  private final QuarantineIndex index = new QuarantineIndex(false);

  /// Takes the first bytes of a line, and has no room for the others.
  private final class Full implements WritableByteChannel {
    private final Runnable atTheEnd;
    private int room;

    Full(int room, Runnable atTheEnd) {
      this.room = room;
      this.atTheEnd = atTheEnd;
    }

    @Override
    public int write(ByteBuffer bytes) throws IOException {
      if (room == 0) {
        atTheEnd.run();
        throw new IOException("No space left on device");
      }
      int count = medium.write(bytes.slice(bytes.position(), room));
      bytes.position(bytes.position() + count);
      room = 0;
      return count;
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {
      // nothing is open
    }
  }

  private void assertFull(String line, WritableByteChannel to) {
    assertThatThrownBy(() -> index.append(line, to)).isInstanceOf(IOException.class)
        .hasMessage("No space left on device");
  }

  @Test
  void lineBehindOneThatWasCut_isOneOfItsOwn() throws IOException {
    assertFull("nothing of it\n", new Full(0, () -> {}));
    index.append("first\n", medium);
    assertFull("second\n", new Full(ROOM, () -> {}));
    assertFull("nothing of it\n", new Full(0, () -> {}));
    index.append("third\n", medium);
    index.append("fourth\n", medium);
    assertThat(written.toString(StandardCharsets.UTF_8)).isEqualTo("first\nseco\nthird\nfourth\n");
  }

  @Test
  void lineOfAnotherThread_thatComesWhileOneIsCut_isOneOfItsOwn() throws Exception {
    FutureTask<Void> second = new FutureTask<>(() -> {
      index.append("second\n", medium);
      return null;
    });
    Thread other = Thread.ofPlatform().unstarted(second);
    assertFull("first\n", new Full(ROOM, () -> {
      other.start();
      while (other.getState() != Thread.State.BLOCKED && other.isAlive()) {
        Thread.onSpinWait();
      }
    }));
    second.get();
    index.append("third\n", medium);
    assertThat(written.toString(StandardCharsets.UTF_8)).isEqualTo("firs\nsecond\nthird\n");
  }
}
