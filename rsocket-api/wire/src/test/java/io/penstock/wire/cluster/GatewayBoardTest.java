package io.penstock.wire.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

/// What gateways tell at one node, and at the members of a cluster.
final class GatewayBoardTest {
  private long now = Long.MAX_VALUE - 5; // a clock may wrap
  private final Table table = new Table();

  /// A table that all members see at once.
  private static final class Table implements SharedTable {
    private final Map<String, byte[]> values = new HashMap<>();
    private final List<Listener> listeners = new CopyOnWriteArrayList<>();

    @Override
    public void put(String name, byte[] value) {
      if (SharedTable.isLater(SharedTable.versioned(value), values.get(name))) {
        values.put(name, value);
        listeners.forEach(each -> each.changed(name, value));
      }
    }

    @Override
    public void remove(String name, byte[] value) {
      values.remove(name);
      listeners.forEach(each -> each.changed(name, null));
    }

    @Override
    public Map<String, byte[]> values() {
      return Map.copyOf(values);
    }

    @Override
    public Disposable listen(Listener listener) {
      listeners.add(listener);
      return () -> listeners.remove(listener);
    }
  }

  private GatewayBoard board() {
    return new GatewayBoard(() -> now);
  }

  private static GatewayUse use(String gateway, long number) {
    return new GatewayUse(gateway, "http://" + gateway, number,
        List.of(new GatewayUse.OfTenant("t", number, 2 * number, 1, 3, 4)));
  }

  private void pass(Duration time) {
    now += time.toNanos();
  }

  @Test
  void aNode_tellsEachGatewayOfTheOthers() {
    GatewayBoard board = board();
    assertThat(board.tell(use("a", 1))).isEmpty();
    assertThat(board.tell(use("b", 1))).containsExactly(use("a", 1));
    assertThat(board.tell(use("a", 2))).containsExactly(use("b", 1));
    board.tell(use("a", 1)); // late
    assertThat(board.tell(use("b", 2))).containsExactly(use("a", 2));
  }

  @Test
  void members_tellOfGatewaysThatAskOthers_alsoThoseThatCameBefore() {
    GatewayBoard one = board();
    GatewayBoard other = board();
    Disposable joined = one.join(table);
    one.tell(use("a", 1));
    other.join(table);
    assertThat(other.tell(use("b", 1))).containsExactly(use("a", 1));
    assertThat(one.tell(use("a", 2))).containsExactly(use("b", 1));
    assertThat(one.tell(use("b", 2))).as("b asks this node now").containsExactly(use("a", 2));
    assertThat(other.all()).containsExactlyInAnyOrder(use("a", 2), use("b", 2));
    joined.dispose();
    other.tell(use("b", 3));
    assertThat(one.tell(use("a", 3))).as("it has left").containsExactly(use("b", 2));
  }

  @Test
  void aGatewayThatFallsSilent_isGoneSoon_andForgottenLater() {
    GatewayBoard board = board();
    board.join(table);
    board.tell(use("a", 1));
    pass(Duration.ofSeconds(5));
    assertThat(board.tell(use("b", 1))).hasSize(1);
    pass(Duration.ofMillis(1));
    assertThat(board.tell(use("b", 2))).isEmpty();
    assertThat(table.values()).hasSize(2);
    pass(Duration.ofSeconds(26));
    board.tell(use("b", 3));
    assertThat(table.values()).containsOnlyKeys("gateway/b");
  }

  @Test
  void tooManyGateways_areRefused_andWhatIsNoUseIsRemoved() {
    GatewayBoard board = board();
    board.join(table);
    table.put("gateway/x", new byte[SharedTable.VERSION_BYTES]);
    assertThat(table.values()).isEmpty();
    for (int i = 0; i < 256; i++) {
      board.tell(use("g" + i, 1));
    }
    assertThatThrownBy(() -> board.tell(use("more", 1))).isInstanceOf(IllegalStateException.class)
        .hasMessage("gateways must be <= 256 (was one more)");
  }
}
