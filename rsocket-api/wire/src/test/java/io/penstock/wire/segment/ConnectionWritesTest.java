package io.penstock.wire.segment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.wire.protocol.WireFormatException;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// Connections of engines, without sockets: `TransferSocketsTest` has writes.
final class ConnectionWritesTest {
  private final Map<Long, ConnectionWrites> byEngine = new HashMap<>();

  @Test
  void connection_isOfOneEngine_soThatItLeavesNothing() {
    ConnectionWrites connection = new ConnectionWrites(byEngine);
    connection.belongTo(1, 0).block();
    connection.belongTo(1, 0).block();
    assertThatThrownBy(() -> connection.belongTo(2, 0).block()).isInstanceOf(WireFormatException.class)
        .hasMessageContaining("engine must be the one that this connection named before (was 2)");
    assertThat(byEngine).containsOnlyKeys(1L);
    connection.close();
    assertThat(byEngine).isEmpty();
  }

  @Test
  void connection_thatIsGone_leavesNothingWhenItsEngineIsNamedLate() {
    ConnectionWrites connection = new ConnectionWrites(byEngine);
    connection.close();
    connection.belongTo(1, 0).block();
    assertThat(byEngine).isEmpty();
  }

  @Test
  void connection_thatWasReplaced_leavesTheLaterOne() {
    ConnectionWrites before = new ConnectionWrites(byEngine);
    ConnectionWrites later = new ConnectionWrites(byEngine);
    before.belongTo(1, 0).block();
    later.belongTo(1, 0).block();
    before.close();
    assertThat(byEngine).containsEntry(1L, later);
  }

  /// What a client sent before it gave a connection up may arrive after it has opened the next one.
  @Test
  void connection_thatIsLate_replacesNone() {
    ConnectionWrites first = new ConnectionWrites(byEngine);
    ConnectionWrites second = new ConnectionWrites(byEngine);
    second.belongTo(1, 2).block();
    first.belongTo(1, 1).block();
    second.belongTo(1, 2).block();
    assertThat(byEngine).containsEntry(1L, second);
    assertThat(first.isOver()).isTrue();
    assertThat(second.isOver()).isFalse();
    first.close();
    assertThat(byEngine).containsEntry(1L, second);
  }
}
