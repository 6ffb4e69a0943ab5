package io.penstock.device.sidecar.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.device.sidecar.RegionCopy;
import io.penstock.device.sidecar.RegionSpec;
import io.penstock.device.sidecar.SideCarCode;
import io.penstock.device.sidecar.SideCarFailure;
import io.penstock.device.sidecar.SideCarFailure.SideCarUnavailableException;
import io.penstock.device.sidecar.client.SideCarClient;
import io.penstock.device.sidecar.link.FrameCodec;
import io.penstock.device.sidecar.link.Link.Frame;
import io.penstock.device.sidecar.link.SideCarMessage;
import io.penstock.device.sidecar.server.SimulatedMemories.Owner;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// What a client may not have more of, under virtual time.
final class SideCarBoundsTest extends SimulatedSideCar {
  private static byte[] register(long request, RegionSpec region) {
    ByteBuffer frame = FrameCodec.encode(new Frame(request, new SideCarMessage.Register(region)));
    byte[] bytes = new byte[frame.remaining()];
    frame.get(bytes);
    return bytes;
  }

  @Test
  void register_moreThanTheNodeHasRoomFor_isRefused() {
    registerAll();
    assertThat(ended(client.register(host(9, 1)))).isEqualTo(SideCarCode.TOO_MANY);
  }

  @Test
  void register_ofMoreHostMemoryThanAClientMayHave_isRefused_withTheBound_untilThereIsRoom() {
    assertThat(ended(client.register(host))).isNull();
    List<Throwable> refused = new ArrayList<>();
    client.register(host(2, 345)).subscribe(nothing -> {}, refused::add);
    pass(1_000);
    assertThat(refused).singleElement()
        .satisfies(error -> assertThat(error).isInstanceOf(SideCarUnavailableException.class).hasMessage(
            "side-car, region 2: no more host memory must be shared than the node allows "
                + "(was: 345 bytes beside 256 of at most 600 of a client)"));
    assertThat(ended(client.register(buffer))).as("not of the host").isNull();
    assertThat(ended(client.unregister(1))).isNull();
    memories.make(PROCESS, host(2, 345));
    assertThat(ended(client.register(host(2, 345)))).isNull();
    assertThat(node.stat().failures()).containsExactly(Map.entry(SideCarCode.TOO_LARGE, 1L));
  }

  @Test
  void register_ofMoreHostMemoryThanAllClientsMayHave_isRefused_withTheBound_untilThereIsRoom() {
    registerAll();
    SideCarClient second = client(8);
    memories.make(8, host(1, 289));
    pass(1_000);
    List<Throwable> refused = new ArrayList<>();
    second.register(host(1, 289)).subscribe(nothing -> {}, refused::add);
    pass(1_000);
    assertThat(refused).singleElement().satisfies(
        error -> assertThat(error).hasMessageContaining("(was: 289 bytes beside 512 of at most 800 of all clients)"));
    memories.broken.add(new Owner(8, 2));
    for (int i = 0; i < 3; i++) {
      assertThat(ended(second.register(host(2, 288)))).as("what could not be mapped takes nothing")
          .isEqualTo(SideCarCode.NOT_MAPPED);
    }
    assertThat(ended(client.unregister(2))).isNull();
    assertThat(ended(second.register(host(1, 289)))).isNull();
    assertThat(ended(second.close())).isNull();
  }

  @Test
  void copy_moreThanGranted_waitsInABoundedLine() {
    registerAll();
    RegionCopy slow = copy(host, buffer);
    List<Outcome> made = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      made.add(new Outcome(client.copy(List.of(slow))));
    }
    List<Throwable> refused = new ArrayList<>();
    client.copy(List.of(slow)).subscribe(nothing -> {}, refused::add);
    assertThat(refused).singleElement().isInstanceOf(io.penstock.budget.BudgetExhaustedException.class);
    pass(1_000);
    assertThat(made).allMatch(outcome -> outcome.ended && outcome.code == null);
  }

  @Test
  void client_oneTooMany_isRefused_andComesInWhenThereIsRoom() {
    SideCarClient second = client(8);
    pass(1_000);
    SideCarClient third = client(9);
    pass(5_000);
    assertThat(third.isHealthy()).isFalse();
    assertThat(third.status().failure())
        .hasValueSatisfying(e -> assertThat(((SideCarFailure) e).code()).isEqualTo(SideCarCode.TOO_MANY));
    assertThat(ended(second.close())).isNull();
    pass(10_000);
    assertThat(third.isHealthy()).isTrue();
    assertThat(ended(third.close())).isNull();
  }

  @Test
  void requests_moreThanMayWaitForTheirAnswers_endTheConnection() {
    registerAll();
    memories.slower = Duration.ofSeconds(2);
    assertThat(ended(client.unregister(2))).isNull();
    for (int i = 0; i < options.maxOpen(); i++) {
      cable.server.sendRawAs(register(1_000 + i, other));
    }
    pass(20);
    assertThat(client.isHealthy()).isTrue();
    cable.server.sendRawAs(register(2_000, other));
    pass(10);
    assertThat(client.status().failure())
        .hasValueSatisfying(e -> assertThat(((SideCarFailure) e).code()).isEqualTo(SideCarCode.TOO_MANY));
    memories.slower = Duration.ZERO;
    pass(5_000);
    assertThat(client.isHealthy()).isTrue();
  }
}
