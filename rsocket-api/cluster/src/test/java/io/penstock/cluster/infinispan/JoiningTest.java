package io.penstock.cluster.infinispan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.cluster.InfinispanClusters;
import io.penstock.node.cluster.Clusters;
import io.penstock.node.cluster.Membership;
import io.penstock.testkit.Eventually;
import io.penstock.wire.cluster.Member.Figures;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.infinispan.configuration.cache.StorageType;
import org.jgroups.JChannel;
import org.jgroups.ObjectMessage;
import org.jgroups.stack.IpAddress;
import org.jgroups.util.ByteArrayDataOutputStream;
import org.jgroups.util.SizeStreamable;
import org.jgroups.util.Util;
import org.junit.jupiter.api.Test;
import reactor.core.Exceptions;

final class JoiningTest {
  private static final AtomicReference<Figures> FIGURES = new AtomicReference<>(Figures.NONE);

  @Test
  void theEngine_isFoundByServiceLoader() {
    assertThat(ServiceLoader.load(Clusters.class)).hasExactlyElementsOfTypes(InfinispanClusters.class);
  }

  @Test
  void theSecret_decidesWhoIsIn() {
    int port = TestMember.freePort();
    try (TestMember a = TestMember.join(TestMember.QUICK, "secret", "a", port, "river");
        TestMember b = TestMember.join(TestMember.QUICK, "secret", "b", TestMember.freePort(), "river", port);
        TestMember wrong = TestMember.join(TestMember.QUICK, "secret", "c", TestMember.freePort(), "lake", port);
        TestMember none = TestMember.join(TestMember.QUICK, "secret", "d", TestMember.freePort(), null, port);
        TestMember other = TestMember.join(TestMember.QUICK, "other", "e", TestMember.freePort(), "river", port)) {
      Eventually.holds("b is in", () -> a.members().equals(List.of("a", "b")));
      assertThat(b.members()).isEqualTo(List.of("a", "b"));
      assertThat(wrong.members()).isEqualTo(List.of("c"));
      assertThat(none.members()).isEqualTo(List.of("d"));
      assertThat(other.members()).isEqualTo(List.of("e"));
      assertThat(a.membership.address()).isEqualTo("127.0.0.1:" + port);
      assertThat(a.membership.refused()).isPositive();
      assertThat(wrong.membership.refused()).isZero();
    }
  }

  /// A payload that counts how often it is made.
  public static final class Payload implements SizeStreamable {
    private static final AtomicInteger MADE = new AtomicInteger();

    public Payload() {
      MADE.incrementAndGet();
    }

    @Override
    public int serializedSize() {
      return 0;
    }

    @Override
    public void writeTo(DataOutput out) {}

    @Override
    public void readFrom(DataInput in) {}
  }

  @Test
  void whatAStrangerSends_isNotRead() throws Exception {
    int port = TestMember.freePort();
    try (TestMember a = TestMember.join(TestMember.QUICK, "secret", "a", port, "river");
        JChannel stranger = new ChannelPlan(BoundHost.of("127.0.0.1"), 0, List.of(), InetAddress::getAllByName, null,
            ChannelTimes.DEFAULTS).channel("stranger")) {
      stranger.connect("elsewhere");
      ByteArrayDataOutputStream bytes = new ByteArrayDataOutputStream(512);
      Util.writeMessage(new ObjectMessage(null, new Payload()).setSrc(stranger.getAddress()), bytes, true);
      int made = Payload.MADE.get();
      stranger.getProtocolStack().getTransport().sendUnicast(new IpAddress("127.0.0.1", port), bytes.buffer(), 0,
          bytes.position());
      Eventually.holds("it is refused", () -> a.membership.refused() == 1);
      assertThat(Payload.MADE).hasValue(made);
    }
  }

  @Test
  void aSecondNodeOfTheName_isRefused_andTheFirstStays() {
    int port = TestMember.freePort();
    try (TestMember a = TestMember.join("names", "a", port)) {
      assertThatThrownBy(() -> TestMember.attempt(Joining.defaults(), "names", "a", TestMember.freePort(), null,
          FIGURES, port).block()).satisfies(thrown -> assertThat(Exceptions.unwrap(thrown))
              .isInstanceOf(NameTakenException.class)
              .hasMessage("node name must be unique in cluster names (another member has a)"));
      assertThat(a.members()).isEqualTo(List.of("a"));
    }
  }

  @Test
  void aPortThatIsTaken_isNamed() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThatThrownBy(() -> TestMember.attempt(Joining.defaults(), "bound", "a", taken.getLocalPort(), null,
          FIGURES).block()).hasMessageContaining("bound must be joined at 127.0.0.1:" + taken.getLocalPort())
          .hasRootCauseInstanceOf(BindException.class);
    }
  }

  @Test
  void seeds_areLookedUpAgain_andEachAddressIsAsked() throws IOException {
    int port = TestMember.freePort();
    AtomicInteger asked = new AtomicInteger();
    InetAddress silent = InetAddress.getByName("127.0.0.2");
    InetAddress there = InetAddress.getByName("127.0.0.1");
    SeedDiscovery.Names names = host -> asked.incrementAndGet() < 4
        ? new InetAddress[] {silent}
        : new InetAddress[] {silent, there};
    Joining joining = new Joining(names, new SecureRandom(), StorageType.HEAP, 1000, TestMember.QUICK.times());
    try (TestMember a = TestMember.join(TestMember.QUICK, "seeds", "a", port, null);
        TestMember b = TestMember.join(joining, "seeds", "b", TestMember.freePort(), null, port)) {
      Eventually.holds("b found a, later", () -> a.members().equals(List.of("a", "b")));
      Eventually.holds("b knows a", () -> b.members().equals(List.of("a", "b")));
    }
  }

  @Test
  void seedsOfWhichNoneHasAnAddress_areRefused() {
    Joining joining = new Joining(host -> {
      throw new UnknownHostException(host);
    }, new SecureRandom(), StorageType.HEAP, 1000, ChannelTimes.DEFAULTS);
    assertThatThrownBy(() -> TestMember.attempt(joining, "seeds", "a", 0, null, FIGURES, 7800).block())
        .hasRootCauseInstanceOf(UnknownHostException.class).hasMessageContaining("localhost");
  }

  @Test
  void aMembershipThatEnded_knowsNoMember() {
    Membership membership =
        TestMember.attempt(Joining.defaults(), "ended", "a", 0, null, FIGURES).block();
    membership.close().block();
    membership.close().block();
    assertThat(membership.members()).isEmpty();
    assertThat(membership.locate(List.of()).block().size()).isZero();
  }
}
