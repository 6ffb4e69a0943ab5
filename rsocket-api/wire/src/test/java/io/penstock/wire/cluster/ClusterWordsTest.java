package io.penstock.wire.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.wire.cluster.Located.Holder;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.WireFormatException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class ClusterWordsTest {
  private static final Member A =
      new Member("a", 7, List.of("127.0.0.1:7733"), "zone1/rack2", Member.State.UP, new Member.Figures(3, 9, 1, 77));
  private static final Member B = new Member("b", 8, List.of("unix:/run/b.sock", "10.0.0.2:7733"), "",
      Member.State.DRAINING, new Member.Figures(0, Long.MAX_VALUE, 0));
  private static final Located LOCATED =
      Located.of(List.of(A, B),
          List.of(List.of(new Holder(1, 2), new Holder(0, 0)), List.of(), List.of(new Holder(1, 0))));

  @Test
  void located_tellsTheHoldersOfEachKey() {
    assertThat(LOCATED.size()).isEqualTo(3);
    assertThat(LOCATED.holders(0)).containsExactly(new Holder(1, 2), new Holder(0, 0));
    assertThat(LOCATED.isHeld(1)).isFalse();
    assertThat(LOCATED.holders(2)).containsExactly(new Holder(1, 0));
  }

  @ParameterizedTest
  @EnumSource(ControlCodec.class)
  void messages_survivePassage(ControlCodec codec) {
    ClusterMessages.LocateReply located = passed(codec, ClusterMessages.LocateReply.of(LOCATED));
    assertThat(located.of(3).members()).containsExactly(A, B);
    assertThat(located.of(3).packed()).isEqualTo(LOCATED.packed());
    assertThat(passed(codec, ClusterMessages.MembersReply.of(new ClusterView("kv", List.of(A, B)))).view())
        .isEqualTo(new ClusterView("kv", List.of(A, B)));
    ClusterView limited = new ClusterView("kv", List.of(A), List.of(new SpaceQuota("tenant", 1, 2, 3)));
    assertThat(passed(codec, ClusterMessages.MembersReply.of(limited)).view()).isEqualTo(limited);
    GatewayUse use = new GatewayUse("g", "http://g", 4, List.of(new GatewayUse.OfTenant("t", 1, 2, 3, 0.5, -7)));
    assertThat(passed(codec, ClusterMessages.UsageRequest.of(use)).use()).isEqualTo(use);
    assertThat(passed(codec, ClusterMessages.UsageReply.of(List.of(use))).uses()).containsExactly(use);
    TaskOrder inSpace = new TaskOrder(TaskOrder.Kind.REMOVE, "", "", 0, "tenant");
    assertThat(ClusterMessages.OrderForm.of(inSpace).kind()).as("a node that knows no spaces refuses it")
        .isEqualTo("REMOVE_IN_SPACE");
    assertThat(passed(codec, ClusterMessages.TaskRequest.of(inSpace)).taskOrder()).isEqualTo(inSpace);
    TaskOrder order = new TaskOrder(TaskOrder.Kind.MOVE, "^00", "b", 5);
    ClusterTask task = new ClusterTask("a/1", "a", order, ClusterTask.State.FAILED, 1, 2, 3, "why");
    assertThat(passed(codec, ClusterMessages.TasksReply.of(List.of(task))).all()).containsExactly(task);
    assertThat(passed(codec, ClusterMessages.TaskRequest.of(order)).taskOrder()).isEqualTo(order);
    assertThat(passed(codec, ClusterMessages.TaskReply.of(task)).started()).isEqualTo(task);
  }

  @Test
  void aMember_thatDoesNotTellItsNextVictim_isRead() {
    assertThat(new ClusterMessages.MemberForm("b", 8, List.of(), "", "UP", 0, null, 0, null).member().figures())
        .isEqualTo(new Member.Figures(0, Long.MAX_VALUE, 0));
    assertThatThrownBy(() -> new ClusterMessages.MemberForm("b", 8, List.of(), "", "UP", 0, null, 0, -1L))
        .isInstanceOf(WireFormatException.class).hasMessageContaining("idleMillis");
  }

  @SuppressWarnings("unchecked") // the class of the message
  private static <T> T passed(ControlCodec codec, T message) {
    ByteBuf bytes = codec.encode(message, UnpooledByteBufAllocator.DEFAULT);
    try {
      return (T) codec.decodeRequest(bytes, message.getClass());
    } finally {
      bytes.release();
    }
  }

  private static <T> T read(String json, Class<T> message) {
    ByteBuf bytes = Unpooled.copiedBuffer(json, StandardCharsets.UTF_8);
    try {
      return ControlCodec.JSON.decode(bytes, message);
    } finally {
      bytes.release();
    }
  }

  @Test
  void repliesOfALaterRelease_areReadAsFarAsTheyAreKnown() {
    String member = """
        {"name":"a","generation":7,"endpoints":["127.0.0.1:7733"],"place":"","state":"LEAVING","bytes":3,\
        "capacityBytes":9,"inFlightBytes":1,"later":{"more":[1]}}""";
    ClusterView view = read("{\"cluster\":\"kv\",\"epoch\":5,\"members\":[%s]}".formatted(member),
        ClusterMessages.MembersReply.class).view();
    assertThat(view.members()).containsExactly(new Member("a", 7, List.of("127.0.0.1:7733"), "",
        Member.State.DRAINING, new Member.Figures(3, 9, 1)));
    assertThat(read("{\"members\":[%s],\"holders\":\"AQAAAA==\",\"ages\":\"AA==\"}".formatted(member),
        ClusterMessages.LocateReply.class).of(1).holders(0)).containsExactly(new Holder(0, 0));

    String task = """
        {"id":"a/%d","node":"a","order":{"kind":"%s","pattern":"","to":"","bytesPerSecond":0,"copies":2},\
        "state":"%s","blocks":1,"bytes":2,"left":3,"problem":"","began":4}""";
    assertThat(read("{\"tasks\":[%s,%s,%s]}".formatted(task.formatted(1, "DRAIN", "RUNNING"),
        task.formatted(2, "SHUFFLE", "RUNNING"), task.formatted(3, "DRAIN", "PAUSED")),
        ClusterMessages.TasksReply.class).all()).extracting(ClusterTask::id).containsExactly("a/1");
  }

  @Test
  void orderOfALaterRelease_isRefusedByItsField() {
    ClusterMessages.TaskRequest request = read(
        "{\"order\":{\"kind\":\"SHUFFLE\",\"pattern\":\"\",\"to\":\"\",\"bytesPerSecond\":0}}",
        ClusterMessages.TaskRequest.class);
    assertThatThrownBy(request::taskOrder).isInstanceOf(WireFormatException.class)
        .hasMessageContaining("order.kind must be one of [DRAIN, RESUME, ").hasMessageContaining("(was SHUFFLE)");
  }

  @Test
  void packedHolders_thatBreakARule_areRefused() {
    for (byte[] bad : List.of(new byte[] {1, 0, 0}, new byte[] {1, 0, 2, 0}, new byte[] {9}, new byte[] {-1})) {
      assertThatThrownBy(() -> Located.read(List.of(A, B), bad)).isInstanceOf(IllegalArgumentException.class)
          .hasMessageStartingWith("holders must be");
    }
    assertThatThrownBy(() -> ClusterMessages.LocateReply.of(LOCATED).of(4)).isInstanceOf(WireFormatException.class)
        .hasMessageContaining("holders must be of 4 keys (was 3)");
  }

  @Test
  void holders_thatDoNotFitTheirBytes_areRefused() {
    for (Holder bad : List.of(new Holder(2, 0), new Holder(-1, 0), new Holder(1 << 16, 0), new Holder(0, 256),
        new Holder(0, -1))) {
      assertThatThrownBy(() -> Located.of(List.of(A, B), List.of(List.of(bad)))).as("%s", bad)
          .isInstanceOf(IllegalArgumentException.class).hasMessageContaining("must be in [0, ");
    }
    assertThatThrownBy(() -> Located.of(List.of(A, B), List.of(Collections.nCopies(256, new Holder(0, 0)))))
        .hasMessageContaining("holders of a key must be");
    assertThatThrownBy(() -> Located.read(Collections.nCopies(Located.MOST_MEMBERS + 1, A), new byte[0]))
        .hasMessage("members must be <= 65536 (was 65537)");
  }

  @Test
  void aTaskOfAPeer_withNumbersBelowZero_isRefusedAsAMessage() {
    ClusterMessages.OrderForm order = new ClusterMessages.OrderForm("DRAIN", "", "", 0, null);
    assertThatThrownBy(() -> new ClusterMessages.TaskForm("a/1", "a", order, "DONE", 0, -1, 0, "").task())
        .isInstanceOf(WireFormatException.class)
        .hasMessage("task.blocks, bytes and left must be >= 0 (was 0, -1, 0)");
  }

  @Test
  void anyBytes_areHoldersOrRefused() {
    Random random = new Random(5);
    for (int i = 0; i < 20_000; i++) {
      byte[] bytes = new byte[random.nextInt(12)];
      random.nextBytes(bytes);
      for (int j = 0; j < bytes.length; j++) {
        bytes[j] &= (byte) (random.nextInt(4) == 0 ? 0xFF : 3);
      }
      try {
        Located read = Located.read(List.of(A, B), bytes);
        for (int key = 0; key < read.size(); key++) {
          assertThat(read.holders(key)).allMatch(holder -> holder.member() < 2);
        }
      } catch (IllegalArgumentException e) {
        assertThat(e).hasMessageStartingWith("holders must be");
      }
    }
  }

  @Test
  void nearness_countsTheCommonWordsFromTheWidest() {
    assertThat(Member.nearness("z1/r2/h3", "z1/r2/h4")).isEqualTo(2);
    assertThat(Member.nearness("z1/r2", "z2/r2")).isZero();
    assertThat(Member.nearness("", "")).isZero();
    assertThat(Member.nearness("z1", "z1/r2")).isEqualTo(1);
  }

  @Test
  void senselessOrders_areRefused() {
    assertThatThrownBy(() -> new TaskOrder(TaskOrder.Kind.DRAIN, "a", "", 0))
        .hasMessage("pattern must be empty for DRAIN (was a)");
    assertThatThrownBy(() -> new TaskOrder(TaskOrder.Kind.REMOVE, "a", "b", 0))
        .hasMessage("to must be empty for REMOVE (was b)");
    assertThatThrownBy(() -> new TaskOrder(TaskOrder.Kind.COPY, "", "", 0, "s"))
        .hasMessage("space must be empty for COPY (was s)");
  }
}
