package io.penstock.resp;

import static io.penstock.resp.RespClient.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.config.DoorSettings;
import io.penstock.node.door.DrivenDoor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
final class ClosedDoorTest {
  private static final int PART = 262_656;

  /// Looks whether the door is closed when a connection does not know yet that it ended.
  private static final class Ends implements DrivenDoor.Traffic {
    private @Nullable CompletableFuture<Void> closing;
    private int ends;
    private int early;

    @Override
    public void read(int port, int bytes) {}

    @Override
    public void sent(int port) {}

    @Override
    public void ended(int port) {
      ends++;
      try {
        if (closing != null) {
          closing.get(200, TimeUnit.MILLISECONDS);
          early++;
        }
      } catch (TimeoutException e) {
        // as it has to be: this thread has yet to tell the connection
      } catch (ExecutionException | InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /// Its tiers are closed next.
  @Test
  void aDoor_isClosed_whenItHoldsNoMemory() throws IOException {
    Ends ends = new Ends();
    byte[] request = request("SET", "k", new byte[2_000_000]);
    try (DrivenDoor door = new DrivenDoor(new RespDoor(), DoorSettings.RESP, Map.of(), Map.of(PART, 32L << 20), ends);
        SocketChannel client = SocketChannel.open(new InetSocketAddress("127.0.0.1", door.port()))) {
      client.write(ByteBuffer.wrap(request, 0, 1_000));
      while (door.held() == 0) {
        door.turn();
      }
      CompletableFuture<Void> closing = door.closing();
      ends.closing = closing;
      while (!closing.isDone()) {
        door.turn();
      }
      assertThat(ends.ends).isEqualTo(1);
      assertThat(ends.early).as("closed while the connection held memory").isZero();
      assertThat(door.held()).isZero();
    }
  }
}
