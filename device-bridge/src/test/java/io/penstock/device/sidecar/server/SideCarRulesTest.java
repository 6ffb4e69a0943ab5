package io.penstock.device.sidecar.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.KvException;
import io.penstock.device.sidecar.RegionCopy;
import io.penstock.device.sidecar.RegionSource.Memfd;
import io.penstock.device.sidecar.RegionSpec;
import io.penstock.device.sidecar.RegionState;
import io.penstock.device.sidecar.SideCarCode;
import io.penstock.device.sidecar.SideCarFailure;
import io.penstock.device.sidecar.SideCarHealth.Phase;
import io.penstock.device.sidecar.link.FrameCodec.MalformedFrameException;
import io.penstock.device.sidecar.link.Link;
import io.penstock.device.sidecar.link.Link.Frame;
import io.penstock.device.sidecar.link.SideCarMessage;
import io.penstock.device.sidecar.server.SimulatedMemories.Owner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Each rule of the side-car, under virtual time.
final class SideCarRulesTest extends SimulatedSideCar {
  @Test
  void register_again_changesNothing_andAnotherSizeIsRefused() {
    assertThat(ended(client.register(host))).isNull();
    assertThat(ended(client.register(host))).isNull();
    assertThat(memories.order).hasSize(1);
    assertThat(ended(client.register(host(1, 255)))).isEqualTo(SideCarCode.MISMATCH);
    assertThat(ended(client.register(new RegionSpec(1, 256, new Memfd(9))))).isEqualTo(SideCarCode.MISMATCH);
  }

  @Test
  void register_twiceAtOnce_mapsOnce() {
    Outcome first = new Outcome(client.register(host));
    Outcome second = new Outcome(client.register(host));
    Outcome odd = new Outcome(client.register(host(1, 255)));
    pass(1_000);
    assertThat(first.ended && second.ended && odd.ended).isTrue();
    assertThat(List.of(first.code == null, second.code == null)).containsOnly(true);
    assertThat(odd.code).isEqualTo(SideCarCode.MISMATCH);
    assertThat(memories.order).hasSize(1);
  }

  @Test
  void copy_betweenAnyTwo_bringsTheBytes() {
    registerAll();
    for (RegionSpec from : List.of(host, other, buffer)) {
      for (RegionSpec to : List.of(host, other, buffer)) {
        byte[] bytes = new byte[256];
        random.nextBytes(bytes);
        memories.put(new Owner(PROCESS, from.id()), 0, bytes);
        assertThat(ended(client.copy(List.of(copy(from, to))))).isNull();
        assertThat(memories.get(new Owner(PROCESS, to.id()), 0, 256)).as("%s to %s", from.id(), to.id())
            .isEqualTo(bytes);
      }
    }
  }

  @Test
  void copy_outOfBounds_orOfWhatIsNotThere_isRefusedWhole() {
    registerAll();
    long[][] hostile = {{0, 257}, {1, 256}, {-1, 1}, {256, 1}, {0, 0}, {0, -1}, {Long.MAX_VALUE, 1},
      {1, Long.MAX_VALUE}, {Long.MIN_VALUE, 8},
      {Long.MAX_VALUE, Long.MAX_VALUE}, {8, Long.MIN_VALUE}};
    byte[] before = memories.get(new Owner(PROCESS, 2), 0, 256);
    memories.put(new Owner(PROCESS, 1), 0, new byte[] {1, 2, 3});
    for (long[] each : hostile) {
      RegionCopy bad = new RegionCopy(1, each[0], 2, 0, each[1]);
      RegionCopy worse = new RegionCopy(1, 0, 2, each[0], each[1]);
      assertThat(ended(client.copy(List.of(copy(host, other), bad)))).as("%s", bad)
          .isEqualTo(SideCarCode.OUT_OF_BOUNDS);
      assertThat(ended(client.copy(List.of(copy(host, other), worse)))).as("%s", worse)
          .isEqualTo(SideCarCode.OUT_OF_BOUNDS);
    }
    assertThat(ended(client.copy(List.of(new RegionCopy(1, 0, 99, 0, 1))))).isEqualTo(SideCarCode.UNKNOWN_REGION);
    assertThat(memories.get(new Owner(PROCESS, 2), 0, 256)).isEqualTo(before);
  }

  @Test
  void unregister_whileOthersCopy_refusesNewOnes_drains_thenUnmaps() {
    registerAll();
    Outcome inFlight = new Outcome(client.copy(List.of(copy(host, buffer), copy(other, buffer))));
    Outcome leaving = new Outcome(client.unregister(1));
    Outcome again = new Outcome(client.unregister(1));
    Outcome late = new Outcome(client.copy(List.of(copy(host, other))));
    Outcome beside = new Outcome(client.copy(List.of(copy(other, buffer))));
    pass(1_000);
    assertThat(inFlight.code).isNull();
    assertThat(leaving.ended && again.ended && inFlight.ended && beside.ended).isTrue();
    assertThat(List.of(leaving.code == null, again.code == null, beside.code == null)).containsOnly(true);
    assertThat(late.code).isIn(SideCarCode.REGION_CLOSING, SideCarCode.UNKNOWN_REGION);
    assertThat(memories.mapped()).containsExactlyInAnyOrder(new Owner(PROCESS, 2), new Owner(PROCESS, 3));
    assertThat(ended(client.unregister(1))).isNull();
    assertThat(ended(client.unregister(99))).isNull();
  }

  @Test
  void cut_unmapsAtOnce_failsCallsAtOnce_andComesBackWithAllRegions() {
    registerAll();
    cable.cut();
    Outcome underWay = new Outcome(client.copy(List.of(copy(host, other))));
    pass(5);
    assertThat(memories.mapped()).isEmpty();
    assertThat(underWay.code).isEqualTo(SideCarCode.DOWN);
    Outcome down = new Outcome(client.copy(List.of(copy(host, other))));
    assertThat(down.code).isEqualTo(SideCarCode.DOWN);
    assertThat(new Outcome(client.register(host)).code).isEqualTo(SideCarCode.DOWN);
    assertThat(new Outcome(client.unregister(1)).code).isEqualTo(SideCarCode.DOWN);
    pass(1_000);
    assertThat(client.isHealthy()).isTrue();
    assertThat(memories.mapped()).hasSize(3);
    assertThat(memories.order.stream().map(Owner::region)).as("host memory first").containsExactly(3L, 1L, 2L, 1L, 2L,
        3L);
    assertThat(ended(client.copy(List.of(copy(host, other))))).isNull();
  }

  @Test
  void silence_ofTenSeconds_unmaps_notEarlier() {
    registerAll();
    pass(500); // between two pings
    links.refuse(true);
    cable.silence();
    pass(9_000);
    assertThat(memories.mapped()).hasSize(3);
    pass(2_500);
    assertThat(memories.mapped()).isEmpty();
    assertThat(client.status().phase()).isEqualTo(Phase.CONNECTING);
    assertThat(client.status().failure()).isPresent();
  }

  @Test
  void quiet_forAnHour_staysHealthy() {
    registerAll();
    SimulatedLinks.Cable first = cable;
    pass(3_600_000);
    assertThat(client.isHealthy()).isTrue();
    assertThat(cable).isSameAs(first);
    assertThat(memories.order).hasSize(3);
  }

  @Test
  void replay_thatFailsAtOne_undoesItsOwn_namesTheRegion_andTriesAgain() {
    registerAll();
    memories.broken.add(new Owner(PROCESS, 3));
    cable.cut();
    pass(30_000);
    boolean undone = false;
    for (int i = 0; i < 200; i++) {
      pass(50);
      undone |= memories.mapped().isEmpty();
    }
    assertThat(undone).as("what an attempt has mapped is given back").isTrue();
    assertThat(client.status().phase()).isEqualTo(Phase.REPLAYING);
    assertThat(client.status().failure()).hasValueSatisfying(failure -> {
      assertThat(((SideCarFailure) failure).region()).isEqualTo(3);
      assertThat(((SideCarFailure) failure).code()).isEqualTo(SideCarCode.NOT_MAPPED);
    });
    assertThat(new Outcome(client.copy(List.of(copy(host, other)))).code).isEqualTo(SideCarCode.DOWN);
    List<RegionState> states = new ArrayList<>();
    client.state(3).subscribe(states::add);
    pass(10);
    assertThat(states).containsExactly(RegionState.UNMAPPED);
    memories.broken.clear();
    pass(10_000);
    assertThat(client.isHealthy()).isTrue();
    assertThat(client.status().failure()).isEmpty();
    assertThat(memories.mapped()).hasSize(3);
  }

  @Test
  void newConnection_whileTheNodeHoldsTheOld_keepsWhatIsMapped() {
    registerAll();
    cable.client.close(); // the client hangs up; the node notices after the next one has come
    cable.server.deaf = true;
    links.open().forEach(each -> each.server.neverHear());
    pass(2_000);
    assertThat(client.isHealthy()).isTrue();
    assertThat(memories.order).hasSize(3);
    assertThat(node.stat().clients()).isEqualTo(1);
    pass(30_000);
    assertThat(memories.mapped()).hasSize(3);
    assertThat(ended(client.copy(List.of(copy(host, other))))).isNull();
  }

  @Test
  void region_whoseRegistrationWasNotAnswered_isUnmappedByTheNextConnection() {
    assertThat(ended(client.register(host))).isNull();
    Outcome unheard = new Outcome(client.register(other));
    pass(3);
    cable.server.neverHear();
    cable.client.close();
    pass(3_000);
    assertThat(unheard.code).isEqualTo(SideCarCode.DOWN);
    assertThat(client.isHealthy()).isTrue();
    assertThat(memories.mapped()).containsExactly(new Owner(PROCESS, 1));
  }

  @Test
  void client_thatIsBackBeforeTheNodeHasLetGo_waits_soThatNothingIsMappedTwice() {
    assertThat(ended(client.register(host))).isNull();
    memories.slower = Duration.ofSeconds(2);
    Outcome slow = new Outcome(client.register(other));
    pass(3);
    memories.slower = Duration.ZERO;
    cable.cut();
    pass(1_000);
    assertThat(slow.code).isEqualTo(SideCarCode.DOWN);
    assertThat(client.isHealthy()).isFalse();
    pass(3_000);
    assertThat(client.isHealthy()).isTrue();
    assertThat(ended(client.register(other))).isNull();
  }

  @Test
  void node_closing_drainsAndUnmaps_andRefusesWhatComes() {
    registerAll();
    Outcome inFlight = new Outcome(client.copy(Collections.nCopies(2, copy(host, buffer))));
    pass(1);
    Outcome closing = new Outcome(node.close());
    pass(1_000);
    assertThat(closing.ended && inFlight.ended).isTrue();
    assertThat(memories.mapped()).isEmpty();
    assertThat(client.isHealthy()).isFalse();
  }

  @Test
  void garbage_endsTheConnection_withATypedError_andTheNodeLivesOn() {
    registerAll();
    cable.server.sendRawAs(new byte[] {0, 0, 0, 12, 9, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1});
    pass(5);
    assertThat(memories.mapped()).isEmpty();
    assertThat(client.status().failure())
        .hasValueSatisfying(e -> assertThat(((SideCarFailure) e).code()).isEqualTo(SideCarCode.VERSION));
    pass(1_000);
    assertThat(client.isHealthy()).isTrue();
  }

  @Test
  void requests_beforeHello_endTheConnection_soThatPingsDoNotHoldIt() {
    List<SideCarMessage> heard = new ArrayList<>();
    List<KvException> ended = new ArrayList<>();
    links.dialer(made -> {}).dial(new Link.Events() {
      @Override
      public void opened(Link link) {
        link.send(new Frame(1, new SideCarMessage.Ping()));
      }

      @Override
      public void received(Frame frame) {
        heard.add(frame.message());
      }

      @Override
      public void malformed(MalformedFrameException problem) {
        throw new AssertionError(problem);
      }

      @Override
      public void closed(KvException why) {
        ended.add(why);
      }
    });
    pass(10);
    assertThat(heard).singleElement().isInstanceOfSatisfying(SideCarMessage.Failed.class,
        failed -> assertThat(failed.code()).isEqualTo(SideCarCode.MALFORMED));
    assertThat(ended).hasSize(1);
  }

  @Test
  void region_thatCannotBeGivenBack_failsTheWaitingCallAtOnce() {
    registerAll();
    memories.sticky = true;
    assertThat(ended(client.unregister(1))).isNull();
    assertThat(ended(client.copy(List.of(copy(other, buffer))))).isNull();
  }
}
