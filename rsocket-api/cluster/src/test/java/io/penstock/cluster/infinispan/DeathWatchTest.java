package io.penstock.cluster.infinispan;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.testkit.Eventually;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jgroups.JChannel;
import org.jgroups.protocols.DISCARD;
import org.jgroups.protocols.TP;
import org.jgroups.stack.ProtocolStack;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Channels of members without the engine above. A member dies here as its process would: its sockets close, its port
/// refuses connections, and it says nothing more. Heartbeats find no death here: silence is judged after an hour.
final class DeathWatchTest {
  private static final int MEMBERS = 5;
  private static final int NEVER = 3_600_000;
  private static final ChannelTimes TIMES =
      new ChannelTimes(ChannelTimes.DEFAULTS.join(), ChannelTimes.DEFAULTS.meet(), NEVER / 4, NEVER);

  private final List<JChannel> all = new ArrayList<>();
  private int port;

  @BeforeEach
  void form() throws Exception {
    port = TestMember.freePort();
    for (int i = 0; i < MEMBERS; i++) {
      join(i == 0 ? port : 0);
    }
    Eventually.holds("all see all", () -> all.stream().allMatch(each -> each.getView().size() == MEMBERS));
  }

  @AfterEach
  void end() {
    all.reversed().forEach(JChannel::close);
  }

  @Test
  void twoThatDieAtOnce_areMissedByAll_withoutHeartbeats() throws Exception {
    List<JChannel> living = List.of(all.get(0), all.get(1), all.get(4));
    List<AtomicInteger> told = new ArrayList<>();
    living.forEach(each -> {
      AtomicInteger deaths = new AtomicInteger();
      watch(each).onDeath(deaths::incrementAndGet);
      told.add(deaths);
    });
    List<UUID> dead = List.of(uuid(all.get(2)), uuid(all.get(3)));

    unseen(List.of(all.get(2), all.get(3)), living);

    assertThat(told.stream().mapToInt(AtomicInteger::get).sum()).as("each death was seen").isGreaterThanOrEqualTo(2);
    assertThat(told).as("deaths that one member saw").allMatch(deaths -> deaths.get() <= 2);
    living.forEach(each -> assertThat(watch(each).dead()).isSubsetOf(dead));
  }

  @Test
  @Tag("proof") // a time limit tells something on a quiet machine alone
  void twoThatDieAtOnce_areMissedByAll_withinTwoSeconds() throws Exception {
    assertThat(unseen(List.of(all.get(2), all.get(3)), List.of(all.get(0), all.get(1), all.get(4)))).isLessThan(2000);
  }

  @Test
  void theFirstTwo_ofWhichOneMakesTheViews_areMissedByAll_withoutHeartbeats() throws Exception {
    unseen(List.of(all.get(0), all.get(1)), List.of(all.get(2), all.get(3), all.get(4)));
  }

  @Test
  void aMemberThatDies_beforeAllHaveItsLastView_isMissedByAll_withoutHeartbeats() throws Exception {
    JChannel next = all.get(1);
    DISCARD deaf = new DISCARD().discardAll(true);
    next.getProtocolStack().insertProtocol(deaf, ProtocolStack.Position.ABOVE, TP.class);
    join(0);
    Eventually.holds("others have the view that lacks at the next maker of views",
        () -> all.get(2).getView().size() == MEMBERS + 1 && all.get(3).getView().size() == MEMBERS + 1);
    assertThat(next.getView().size()).isEqualTo(MEMBERS);
    transport(all.getFirst()).stop();
    deaf.discardAll(false);

    unseen(List.of(all.get(0)), List.of(next, all.get(2), all.get(3), all.get(4)));
  }

  @Test
  void connectionsThatClose_removeNoMember() {
    long view = all.getFirst().getView().getViewId().getId();
    for (int i = 0; i < 100; i++) {
      all.forEach(each -> transport(each).clearConnections());
    }
    Eventually.holds("all talk again", () -> all.stream().allMatch(each -> transport(each).getOpenConnections() > 0));
    assertThat(all).allSatisfy(each -> {
      assertThat(watch(each).dead()).isEmpty();
      assertThat(each.getView().getViewId().getId()).isEqualTo(view);
    });
  }

  private void join(int at) throws Exception {
    List<Seed> seeds = all.isEmpty() ? List.of() : List.of(new Seed("127.0.0.1", port));
    JChannel channel = new ChannelPlan(BoundHost.of("127.0.0.1"), at, seeds, InetAddress::getAllByName, null,
        TIMES).channel("m" + all.size());
    channel.connect("watched");
    all.add(channel);
  }

  /// Lets members die, and waits until all others miss them.
  ///
  /// @return how long that took, in milliseconds
  private static long unseen(List<JChannel> dying, List<JChannel> living) throws Exception {
    for (JChannel each : dying) {
      each.getProtocolStack().insertProtocol(new DISCARD().discardAll(true), ProtocolStack.Position.ABOVE, TP.class);
    }
    long moment = System.nanoTime();
    dying.forEach(each -> transport(each).stop());
    Eventually.holds("the dead are missed", () -> living.stream()
        .allMatch(each -> dying.stream().noneMatch(dead -> each.getView().containsMember(dead.getAddress()))));
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - moment);
    System.out.println("dead members were missed after " + millis + " ms");
    return millis;
  }

  private static MemberTransport transport(JChannel channel) {
    return channel.getProtocolStack().findProtocol(MemberTransport.class);
  }

  private static DeathWatch watch(JChannel channel) {
    return channel.getProtocolStack().findProtocol(DeathWatch.class);
  }

  private static UUID uuid(JChannel channel) {
    org.jgroups.util.UUID address = (org.jgroups.util.UUID) channel.getAddress();
    return new UUID(address.getMostSignificantBits(), address.getLeastSignificantBits());
  }
}
