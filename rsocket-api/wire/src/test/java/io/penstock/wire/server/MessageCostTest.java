package io.penstock.wire.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.Plane.ElementType;
import io.penstock.budget.Permits;
import io.penstock.disagg.RankId;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.registry.RankRegistry;
import io.penstock.disagg.registry.Registration;
import io.penstock.disagg.registry.Registration.Endpoint;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.disagg.registry.RegistryOptions;
import io.penstock.disagg.request.LifecycleListener;
import io.penstock.disagg.request.LifecycleOptions;
import io.penstock.disagg.request.PrefillConnector;
import io.penstock.disagg.request.Signal;
import io.penstock.stack.HostTier;
import io.penstock.testkit.Blocks;
import io.penstock.tier.ByteBudget;
import io.penstock.tier.TierListener;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.BudgetLane;
import io.penstock.wire.credit.NodeBudget;
import io.penstock.wire.protocol.ControlCodec;
import io.penstock.wire.protocol.DisaggMessages;
import io.penstock.wire.protocol.Handshake;
import io.penstock.wire.protocol.HoldMessages;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.PutMessages;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.SegmentMessages;
import io.penstock.wire.segment.StagingSlots;
import io.penstock.wire.server.call.HeldRights;
import io.penstock.wire.server.call.RunningStreams;
import io.penstock.wire.server.call.Turns;
import io.penstock.wire.server.route.DisaggServices;
import io.penstock.wire.server.space.NodeSpaces;
import io.penstock.wire.server.space.ServedSpaces;
import io.penstock.wire.transfer.SegmentLink;
import io.penstock.wire.transfer.SegmentRegistry;
import io.rsocket.Payload;
import io.rsocket.util.ByteBufPayload;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

/// The CPU time that a node spends on a control message, whatever a stranger makes of it, from its payload to the first
/// answer: it grows with the bytes of the message and not faster, and no form of a message costs much more than others.
@Timeout(120)
final class MessageCostTest {
  private static final int MOST_TIMES_MEDIAN = 20;
  /// Bytes that each message counts in addition to its own: the request and its answer have a cost of their own.
  private static final int OWN_BYTES = 8192;
  /// Messages before the first one that is measured: the compiler of the JVM has seen them all by then.
  private static final int WARM_UP = 600;
  private static final int AGAIN = 5;
  private static final int ROUTING = 0xFE;
  private static final int MIME_TYPE = 0xFA;
  private static final int JSON = 0x85;
  private static final List<BlockKey> KEYS = Blocks.keys(Blocks.smallSpace(), 0, 100);
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final HostTier tier = new HostTier(Blocks.smallSpace(), 8, TierListener.noop());
  private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
  private final KvResponder responder = responder();

  private record Route(String name, Object message) {}

  private KvResponder responder() {
    Permits requests = new Permits("requests", 1 << 28, 1);
    FairShares shares = new FairShares(new NodeBudget(new ByteBudget("ingress", 1 << 20, 4).permits(), 512 << 10),
        new BudgetLane("messages of requests", Budget.of(requests), 1 << 28, 1),
        new BudgetLane("windows", Budget.of(new Permits("windows", 128, 1)), 128, 16));
    return new KvResponder(
        new Serving(new ServedSpaces(NodeSpaces.of(List.of(tier)), Limits.defaults()),
            KvServerOptions.defaults(), shares, Schedulers.immediate(), new Turns(Schedulers.immediate()),
            Schedulers.immediate(),
            UnpooledByteBufAllocator.DEFAULT, () -> false, new RunningStreams(), new SegmentRegistry(1),
            new StagingSlots(1 << 20),
            new DisaggServices(new RankRegistry(RegistryOptions.defaults(), System::nanoTime, gone -> {}),
                new PrefillConnector(LifecycleOptions.defaults(), new LifecycleListener() {}, clock)),
            HeldRights.fixed(), new ConcurrentHashMap<>()),
        ControlCodec.CBOR.mimeType(), "here", null, null, 0);
  }

  private static List<Route> routes() {
    Messages.Keys keys = Messages.Keys.of(KEYS);
    DisaggMessages.Who who = new DisaggMessages.Who("p", 0, 1);
    Manifest manifest = Manifest.of("m", BlockLayout.attention(2, 16, 4, 8, ElementType.BF16), Parallelism.ofTp(1));
    return List.of(
        new Route(Routes.HELLO, new Handshake.Hello(List.of(1), Handshake.Space.of(Blocks.smallSpace()), "cost",
            List.of(new Handshake.CarrierOffer("shared-memory", 1L, 3, null, null)), List.of("views"))),
        new Route(Routes.MATCH, new Messages.KeysRequest(keys, new HoldMessages.LeaseWanted(10L, true, null, null))),
        new Route(Routes.EXISTS, new Messages.KeysRequest(keys)),
        new Route(Routes.GET, new Messages.GetRequest(keys, "SKIP", "LAYER_FIRST", 0, 4096, 4, 0, null, null, null,
            new Messages.View(0, 1, 0, 1, 0, 1), null)),
        new Route(Routes.GET, new Messages.GetRequest(keys, "ADMIT", "LAYER_FIRST", 0, 4096, 4, 0)),
        new Route(Routes.PUT, new PutMessages.PutRequest(keys, 4096, 4, 0,
            new HoldMessages.PinWanted("SOFT", 10L), "group", true, true)),
        new Route(Routes.PUT, new PutMessages.PutRequest(keys, 4096, 4, 0)),
        new Route(Routes.REMOVE, new HoldMessages.RemoveRequest(keys, null, null, true, null)),
        new Route(Routes.REMOVE, new HoldMessages.RemoveRequest(null, "0+1", null, true, null)),
        new Route(Routes.PIN, new HoldMessages.PinRequest(keys, new HoldMessages.PinWanted("SOFT", 10L))),
        new Route(Routes.RELEASE, new HoldMessages.ReleaseRequest(7)),
        new Route(Routes.DRAIN, new Messages.DrainRequest(7)),
        new Route(Routes.LANDED, new Messages.Landed(7, 1)),
        new Route(Routes.STAT, new Messages.StatRequest(new byte[16])),
        new Route(Routes.EVENTS, new Messages.EventsRequest(0, 0L, new byte[16], true)),
        new Route(Routes.SEGMENTS, new SegmentMessages.SegmentsRequest(7L, 1L,
            List.of(new Handshake.CarrierOffer("shared-memory", 1L, 3, null, null)))),
        new Route(Routes.READ, SegmentMessages.ItemRequest.of(
            List.of(new SegmentLink.Range(1, 1, 0, 100), new SegmentLink.Range(1, 1, 200, 100)), 4096, 1, null)),
        new Route(Routes.WRITE, SegmentMessages.ItemRequest.of(
            List.of(new SegmentLink.Range(1, 1, 0, 100), new SegmentLink.Range(1, 1, 200, 100)), 4096, 1, null)),
        new Route(Routes.CLAIM, new DisaggMessages.ClaimRequest("p", 0, 1L, new byte[16])),
        new Route(Routes.REGISTER, DisaggMessages.RegisterRequest.of(new Registration(Side.PREFILL,
            new RankId("p", 0).since(1), 1, manifest, new Endpoint("h", 1)), new byte[16])),
        new Route(Routes.HEARTBEAT, new DisaggMessages.HeartbeatRequest(who, true, new byte[16])),
        new Route(Routes.INSTANCES,
            new DisaggMessages.InstancesRequest("p", new DisaggMessages.Receiver("p", 0))),
        new Route(Routes.REPLICA, new DisaggMessages.ReplicaRequest("r", 0)),
        new Route(Routes.KEEP, DisaggMessages.KeepRequest.of("r", keys, Set.of(new RankId("d", 0)))),
        new Route(Routes.SIGNAL, DisaggMessages.SignalRequest.of(
            new Signal(Signal.Kind.values()[0], "r", new RankId("d", 0).since(1), 1), 0)));
  }

  /// What one message cost.
  ///
  /// @param each nanoseconds of CPU a byte; a message has some bytes of its own, so that a short one may cost something
  private record Cost(Case one, double each) {}

  /// One message, which its seed makes again.
  private record Case(long seed) {
    private static final List<Route> ROUTES = routes();

    private static <T> T oneOf(List<T> all, SplittableRandom random) {
      return all.get(random.nextInt(all.size()));
    }

    Cost cost(KvResponder responder, int times) {
      SplittableRandom random = new SplittableRandom(seed);
      Route route = oneOf(ROUTES, random);
      ControlCodec codec = oneOf(List.of(ControlCodec.values()), random);
      HostileMessages.Form form = oneOf(List.of(HostileMessages.Form.values()), random);
      byte[] message = HostileMessages.of(codec, route.message(), form, 1 << random.nextInt(10, 18), random);
      long least = Long.MAX_VALUE;
      for (int i = 0; i < times; i++) {
        Payload payload = ByteBufPayload.create(Unpooled.wrappedBuffer(message), metadata(route.name(), codec));
        long begin = THREADS.getCurrentThreadCpuTime();
        send(responder, route.name(), payload);
        least = Math.min(least, THREADS.getCurrentThreadCpuTime() - begin);
      }
      return new Cost(this, (double) least / (message.length + OWN_BYTES));
    }

    @Override
    public String toString() {
      SplittableRandom random = new SplittableRandom(seed);
      return "seed " + seed + ": " + oneOf(ROUTES, random).name() + " "
          + oneOf(List.of(ControlCodec.values()), random) + " "
          + oneOf(List.of(HostileMessages.Form.values()), random) + " of " + (1 << random.nextInt(10, 18)) + " bytes";
    }
  }

  private static ByteBuf metadata(String route, ControlCodec codec) {
    byte[] tag = route.getBytes(StandardCharsets.US_ASCII);
    ByteBuf entries = Unpooled.buffer().writeByte(ROUTING).writeMedium(tag.length + 1).writeByte(tag.length)
        .writeBytes(tag);
    return codec == ControlCodec.CBOR ? entries : entries.writeByte(MIME_TYPE).writeMedium(1).writeByte(JSON);
  }

  private static void send(KvResponder responder, String route, Payload payload) {
    First reader = new First();
    switch (route) {
      case Routes.GET, Routes.EVENTS, Routes.READ -> responder.requestStream(payload).subscribe(reader);
      case Routes.PUT, Routes.WRITE -> responder.requestChannel(Flux.just(payload)).subscribe(reader);
      case Routes.LANDED -> responder.fireAndForget(payload).subscribe(nothing -> {}, refused -> {});
      default -> responder.requestResponse(payload).subscribe(reader);
    }
    reader.cancel();
  }

  /// Takes one answer at most.
  private static final class First extends BaseSubscriber<Payload> {
    @Override
    protected void hookOnNext(Payload payload) {
      payload.release();
      cancel();
    }

    @Override
    protected void hookOnError(Throwable refusal) {
      // costs, too
    }
  }

  @Test
  void noMessage_costsMuchMoreThanOthersOfItsLength() {
    assertLinear(0, 600);
  }

  @Tag("proof")
  @Timeout(1200)
  @Test
  void noMessageOfManyThousands_costsMuchMoreThanOthersOfItsLength() {
    assertLinear(1_000_000, 200_000);
  }

  private void assertLinear(long from, int messages) {
    LongStream.range(-WARM_UP, 0).forEach(seed -> new Case(seed).cost(responder, 1));
    List<Cost> costs = LongStream.range(from, from + messages).mapToObj(seed -> new Case(seed).cost(responder, 1))
        .sorted(Comparator.comparingDouble(Cost::each)).toList();
    double most = MOST_TIMES_MEDIAN * costs.get(messages / 2).each();

    // a collector or another process may have had its part in the first measurement
    assertThat(costs.stream().filter(cost -> cost.each() > most).map(cost -> cost.one().cost(responder, AGAIN))
        .filter(cost -> cost.each() > most)).as("messages that cost more than %.1f ns a byte", most).isEmpty();
  }
}
