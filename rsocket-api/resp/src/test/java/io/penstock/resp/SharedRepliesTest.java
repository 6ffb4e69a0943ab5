package io.penstock.resp;

import static io.penstock.resp.RespClient.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.node.config.DoorSettings;
import io.penstock.node.door.DrivenDoor;
import java.io.IOException;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Replies to connections that share the thread of a door.
@Timeout(300)
final class SharedRepliesTest {
  private static final int CLIENTS = 4;

  /// What passes the sockets, in order.
  private static final class Order implements DrivenDoor.Traffic {
    private final List<String> all = new ArrayList<>();
    private Runnable atSecondRead = () -> {};

    @Override
    public void read(int port, int bytes) {
      all.add("read " + port);
      if (all.size() == 2) {
        atSecondRead.run();
      }
    }

    @Override
    public void sent(int port) {
      all.add("sent " + port);
    }
  }

  private final Order order = new Order();

  private DrivenDoor open() {
    return new DrivenDoor(new RespDoor(), DoorSettings.RESP, Map.of(), Map.of(4_608, 1L << 20), order);
  }

  /// Clients, of which each was heard once: the door knows that they share its thread.
  private List<RespClient> connect(DrivenDoor door) throws IOException {
    List<RespClient> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      RespClient client = new RespClient(door.port());
      clients.add(client.send(request("PING")));
      while (order.all.size() < 2 * clients.size()) {
        door.turn();
      }
      assertThat(client.line()).isEqualTo("+PONG");
    }
    order.all.clear();
    return clients;
  }

  private static void close(List<RespClient> clients) throws IOException {
    for (RespClient each : clients) {
      each.close();
    }
  }

  private static boolean hasReply(RespClient client) throws IOException {
    try {
      return client.line().equals("+PONG");
    } catch (SocketException e) { // reset, since its request was not read
      return false;
    }
  }

  private List<String> begins(int from, int to) {
    return order.all.subList(from, to).stream().map(text -> text.substring(0, 4)).distinct().toList();
  }

  @Test
  void replies_goOut_whenAllThatHadComeWasRead() throws IOException {
    try (DrivenDoor door = open()) {
      List<RespClient> clients = connect(door);
      for (RespClient each : clients) {
        each.send(request("SET", "k", "value"));
      }
      door.turn();
      assertThat(order.all).hasSize(2 * CLIENTS).doesNotHaveDuplicates();
      assertThat(begins(0, CLIENTS)).containsExactly("read");
      assertThat(begins(CLIENTS, 2 * CLIENTS)).containsExactly("sent");
      for (RespClient each : clients) {
        assertThat(each.line()).isEqualTo("+OK");
      }
      close(clients);
    }
  }

  @Test
  void aClientThatSendsNoMore_hasItsReply() throws IOException {
    try (DrivenDoor door = open()) {
      List<RespClient> clients = connect(door);
      for (RespClient each : clients) {
        each.send(request("ECHO", "last")).endSending();
      }
      door.turn();
      for (RespClient each : clients) {
        assertThat(each.line()).isEqualTo("$4");
        assertThat(each.line()).isEqualTo("last");
      }
      close(clients);
    }
  }

  /// One that stores a chunk of a model with another length than before ends its connection.
  @Test
  void aRequestThatEndsItsConnection_leavesTheReplyToTheOneBefore() throws IOException {
    String chunk = "m@w@0@k";
    try (DrivenDoor door = open()) {
      List<RespClient> clients = connect(door);
      RespClient fixedWidth = new RespClient(door.port());
      clients.add(fixedWidth);
      fixedWidth.send(request("SET", chunk, "value"));
      while (order.all.size() < 2) {
        door.turn();
      }
      assertThat(fixedWidth.line()).isEqualTo("+OK");
      clients.getFirst().send(request("PING")); // the loop is shared
      fixedWidth.send(RespClient.join(request("EXISTS", chunk), request("SET", chunk, "longer value")));
      door.turn();
      assertThat(fixedWidth.line()).isEqualTo(":1");
      assertThat(fixedWidth.isEnded()).isTrue();
      close(clients);
    }
  }

  @Test
  void aDoorThatCloses_sendsTheRepliesThatItHas() throws IOException {
    try (DrivenDoor door = open()) {
      List<RespClient> clients = connect(door);
      for (RespClient each : clients) {
        each.send(request("PING"));
      }
      order.atSecondRead = () -> {
        var _ = door.closing();
      };
      door.turn();
      int replies = 0;
      for (RespClient each : clients) {
        replies += hasReply(each) ? 1 : 0;
      }
      assertThat(replies).as("replies to what was read before the close").isEqualTo(1);
      close(clients);
    }
  }
}
