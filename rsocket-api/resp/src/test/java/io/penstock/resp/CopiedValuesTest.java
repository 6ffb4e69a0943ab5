package io.penstock.resp;

import static io.penstock.resp.RespClient.join;
import static io.penstock.resp.RespClient.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.config.DoorSettings;
import io.penstock.node.config.RespSettings;
import io.penstock.node.door.DrivenDoor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// How a door reads values that come behind requests whose long arguments made its buffers long.
@Timeout(300)
final class CopiedValuesTest {
  private static final int SHORT_READ = 1 << 10;

  /// Bytes of each read.
  private static final class Reads implements DrivenDoor.Traffic {
    private final List<Integer> all = new ArrayList<>();

    @Override
    public void read(int port, int bytes) {
      all.add(bytes);
    }

    @Override
    public void sent(int port) {}
  }

  /// A client that sends all it has as the door reads it, and looks at the ends of its replies.
  private static final class Client implements AutoCloseable {
    private final SocketChannel socket;
    private final ByteBuffer replies = ByteBuffer.allocate(64 << 10);
    private ByteBuffer requests = ByteBuffer.allocate(0);
    private int stored;

    Client(int port) throws IOException {
      socket = SocketChannel.open(new InetSocketAddress("127.0.0.1", port));
      socket.configureBlocking(false);
    }

    void begin(byte[] bytes) {
      requests = ByteBuffer.wrap(bytes);
    }

    void goOn() throws IOException {
      socket.write(requests);
      while (socket.read(replies.clear()) > 0) {
        for (int i = 0; i < replies.position(); i++) {
          stored += replies.get(i) == '+' ? 1 : 0;
        }
      }
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  private final Reads reads = new Reads();

  private DrivenDoor open(int part, long memory) {
    return new DrivenDoor(new RespDoor(), DoorSettings.RESP, Map.of(RespSettings.ROOM, "100ms"),
        Map.of(part, memory), reads);
  }

  private static void store(DrivenDoor door, Client client, byte[] requests) throws IOException {
    int before = client.stored;
    client.begin(requests);
    do {
      client.goOn();
      door.turn();
    } while (client.stored == before);
  }

  @Test
  void aValueThatCameWithItsRequest_isReadToWhereItLies_theNextTime() throws IOException {
    byte[] set = request("SET", "k", new byte[40_000]);
    try (DrivenDoor door = open(66_048, 1 << 20); Client client = new Client(door.port())) {
      store(door, client, join(request("ECHO", new byte[400_000]), request("PING")));
      reads.all.clear();
      store(door, client, set);
      assertThat(reads.all).containsExactly(set.length);
      reads.all.clear();
      store(door, client, set);
      assertThat(reads.all).containsExactly(SHORT_READ, set.length - SHORT_READ);
    }
  }

  /// Though its first bytes were copied.
  @Test
  void aValueThatIsLetGo_isReadInLongPieces() throws IOException {
    byte[] all = join(request("ECHO", new byte[900_000]), request("SET", "k", new byte[6 << 20]));
    try (DrivenDoor door = open(262_656, 8 << 20)) {
      List<Client> clients = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        Client client = new Client(door.port());
        clients.add(client);
        client.begin(join(join(all, all), all));
      }
      while (clients.stream().anyMatch(each -> each.stored < 3)) {
        for (Client each : clients) {
          each.goOn();
        }
        door.turn();
      }
      long shortReads = reads.all.stream().filter(bytes -> bytes <= SHORT_READ).count();
      assertThat(shortReads).as("short ones of %d reads", reads.all.size()).isLessThan(reads.all.size() / 10);
      for (Client each : clients) {
        each.close();
      }
    }
  }
}
