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
import io.penstock.wire.protocol.RequestMetadata;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.SegmentMessages;
import io.penstock.wire.segment.StagingSlots;
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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

final class MessageCostTest {
  private static final List<BlockKey> KEYS = Blocks.keys(Blocks.smallSpace(), 0, 100);
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final HostTier tier = new HostTier(Blocks.smallSpace(), 8, TierListener.noop());
  private final VirtualTimeScheduler clock = VirtualTimeScheduler.create();
  private final KvResponder responder = responder();

  private record Route(String name, Object message) {}

  private KvResponder responder() {
    Permits requests = new Permits("requests", 1 << 28, 1);
    AddressShares shares = new AddressShares(new NodeBudget(new ByteBudget("ingress", 1 << 20, 4).permits(), 512 << 10),
        new BudgetLane("messages of requests", Budget.of(requests), 1 << 28, 1),
        new BudgetLane("windows", Budget.of(new Permits("windows", 128, 1)), 128, 16));
    return new KvResponder(
        new Serving(new ServedSpaces(NodeSpaces.of(List.of(tier)), Limits.defaults()),
            KvServerOptions.defaults(), shares, Schedulers.immediate(), new Turns(Schedulers.immediate()), Schedulers.immediate(),
            UnpooledByteBufAllocator.DEFAULT, () -> false, new RunningStreams(), new SegmentRegistry(1),
            new StagingSlots(1 << 20),
            new DisaggServices(new RankRegistry(RegistryOptions.defaults(), System::nanoTime, gone -> {}),
                new PrefillConnector(LifecycleOptions.defaults(), new LifecycleListener() {}, clock)),
            new ConcurrentHashMap<>()),
        ControlCodec.CBOR.mimeType(), "here", null, null, 0);
  }

  private static List<Route> routes() {
    Messages.Keys keys = Messages.Keys.of(KEYS);
    DisaggMessages.Who who = new DisaggMessages.Who("p", 0, 1);
    Manifest manifest = Manifest.of("m", BlockLayout.attention(2, 16, 4, 8, ElementType.BF16), Parallelism.ofTp(1));
    return List.of(
        new Route(Routes.HELLO, new Handshake.Hello(List.of(1), Handshake.Space.of(Blocks.smallSpace()), "cost",
            List.of(new Handshake.CarrierOffer("shared-memory", 1L, 3, null, null)), List.of("views"))),
        new Route(Routes.MATCH, new Messages.KeysRequest(keys, new HoldMessages.LeaseWanted(10L, true, null))),
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
        new Route(Routes.STAT, new Messages.StatRequest(Arrays.copyOf(new byte[0], 16))),
        new Route(Routes.EVENTS, new Messages.EventsRequest(0, 0L, new byte[16], true)),
        new Route(Routes.SEGMENTS, new SegmentMessages.SegmentsRequest(7L, 1L,
            List.of(new Handshake.CarrierOffer("shared-memory", 1L, 3, null, null)))),
        new Route(Routes.READ, SegmentMessages.ItemRequest.of(
            List.of(new SegmentLink.Range(1, 1, 0, 100), new SegmentLink.Range(1, 1, 200, 100)), 4096, 1, null)),
        new Route(Routes.WRITE, SegmentMessages.ItemRequest.of(
            List.of(new SegmentLink.Range(1, 1, 0, 100), new SegmentLink.Range(1, 1, 200, 100)), 4096, 1, null)),
        new Route(Routes.REGISTER, DisaggMessages.RegisterRequest.of(new Registration(Side.PREFILL,
            new RankId("p", 0).since(1), 1, manifest, new Endpoint("h", 1)))),
        new Route(Routes.HEARTBEAT, new DisaggMessages.HeartbeatRequest(who, true)),
        new Route(Routes.INSTANCES,
            new DisaggMessages.InstancesRequest("p", new DisaggMessages.Receiver("p", 0))),
        new Route(Routes.REPLICA, new DisaggMessages.ReplicaRequest("r", 0)),
        new Route(Routes.KEEP, DisaggMessages.KeepRequest.of("r", keys, Set.of(new RankId("d", 0)))),
        new Route(Routes.SIGNAL, DisaggMessages.SignalRequest.of(
            new Signal(Signal.Kind.values()[0], "r", new RankId("d", 0).since(1), 1), 0)));
  }

  private static final class End extends BaseSubscriber<Payload> {
    private String end = "none";

    @Override
    protected void hookOnNext(Payload payload) {
      end = "answered";
      payload.release();
      cancel();
    }

    @Override
    protected void hookOnError(Throwable failure) {
      end = String.valueOf(failure.getMessage());
    }
  }

  private record Cost(String what, int bytes, long nanos, String end) {
    double each() {
      return (double) nanos / bytes;
    }
  }

  private Cost cost(Route route, ControlCodec codec, HostileMessages.Form form, int size, long seed) {
    byte[] message = HostileMessages.of(codec, route.message(), form, size, new SplittableRandom(seed));
    long least = Long.MAX_VALUE;
    String end = "";
    for (int i = 0; i < 2; i++) {
      End reader = new End();
      ByteBuf metadata = codec == ControlCodec.CBOR ? RequestMetadata.write(route.name(), UnpooledByteBufAllocator.DEFAULT) : json(route.name());
      Payload payload = ByteBufPayload.create(Unpooled.wrappedBuffer(message), metadata);
      long begin = THREADS.getCurrentThreadCpuTime();
      send(route.name(), payload, reader);
      least = Math.min(least, THREADS.getCurrentThreadCpuTime() - begin);
      reader.cancel();
      end = reader.end;
    }
    return new Cost(route.name() + " " + codec + " " + form + " seed " + seed, message.length, least, end);
  }

  private static ByteBuf json(String route) {
    byte[] tag = route.getBytes(StandardCharsets.US_ASCII);
    return Unpooled.buffer().writeByte(0xFE).writeMedium(tag.length + 1).writeByte(tag.length).writeBytes(tag)
        .writeByte(0xFA).writeMedium(1).writeByte(0x85);
  }

  private void send(String route, Payload payload, End reader) {
    switch (route) {
      case Routes.GET, Routes.EVENTS, Routes.READ -> responder.requestStream(payload).subscribe(reader);
      case Routes.PUT, Routes.WRITE -> responder.requestChannel(Flux.just(payload)).subscribe(reader);
      case Routes.LANDED -> responder.fireAndForget(payload).subscribe(null, e -> reader.end = "" + e.getMessage());
      default -> responder.requestResponse(payload).subscribe(reader);
    }
  }

  @Test
  void cost() {
    int size = Integer.getInteger("size", 64 << 10);
    List<Cost> costs = new ArrayList<>();
    for (int round = 0; round < Integer.getInteger("rounds", 2); round++) {
      for (Route route : routes()) {
        for (ControlCodec codec : ControlCodec.values()) {
          for (HostileMessages.Form form : HostileMessages.Form.values()) {
            Cost one = cost(route, codec, form, size, round);
            if (round > 0) {
              costs.add(one);
            }
          }
        }
      }
    }
    costs.sort(Comparator.comparingDouble(Cost::each));
    System.out.println("median " + costs.get(costs.size() / 2).each() + " ns a byte of " + costs.size());
    Map<String, Cost> worst = new java.util.LinkedHashMap<>();
    for (Cost one : costs.reversed()) {
      String[] w = one.what().split(" ");
      if (worst.putIfAbsent(w[1] + w[2], one) == null && worst.size() < 50) {
        System.out.println("%8.2f ns/B %7d B %s: %s".formatted(one.each(), one.bytes(), one.what(), one.end().substring(0, Math.min(90, one.end().length()))));
      }
    }
    assertThat(costs).isNotEmpty();
  }
}
