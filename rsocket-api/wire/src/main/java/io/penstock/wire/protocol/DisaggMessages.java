package io.penstock.wire.protocol;

import static io.penstock.wire.protocol.Fields.copied;
import static io.penstock.wire.protocol.Fields.oneOf;
import static io.penstock.wire.protocol.Fields.present;

import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.check.Checks;
import io.penstock.disagg.Incarnation;
import io.penstock.disagg.RankId;
import io.penstock.disagg.plan.Manifest;
import io.penstock.disagg.plan.Parallelism;
import io.penstock.disagg.registry.InstanceView;
import io.penstock.disagg.registry.Registration;
import io.penstock.disagg.registry.Registration.Endpoint;
import io.penstock.disagg.registry.Registration.Engine;
import io.penstock.disagg.registry.Registration.Side;
import io.penstock.disagg.registry.RegistryOptions;
import io.penstock.disagg.request.Release;
import io.penstock.disagg.request.RequestAnswer;
import io.penstock.disagg.request.RequestAnswer.Outcome;
import io.penstock.disagg.request.Signal;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The control messages of prefill and decode ranks; see [Messages] for what holds for all.
public final class DisaggMessages {
  private static final int LONGEST_NAME = 256;

  private DisaggMessages() {}

  /// Result of `make` for the fields of a message.
  ///
  /// @throws WireFormatException if a field breaks its rule
  private static <T> T valid(String field, Supplier<T> make) {
    try {
      return make.get();
    } catch (IllegalArgumentException | IndexOutOfBoundsException | ArithmeticException e) {
      throw WireFormatException.request(field, "within its rules", String.valueOf(e.getMessage()));
    }
  }

  private static String name(String field, @Nullable String name) {
    String told = present(field, name);
    if (told.isBlank() || told.length() > LONGEST_NAME) {
      throw WireFormatException.request(field, "1 to " + LONGEST_NAME + " characters", told.length());
    } else if (!told.codePoints().allMatch(Checks::isPrintable)) {
      throw WireFormatException.request(field, "of printable characters", "of others");
    }
    return told;
  }

  /// One rank since one start of it.
  public record Who(String instance, int rank, long generation) {
    public Who {
      name("instance", instance);
    }

    public static Who of(Incarnation who) {
      return new Who(who.rank().instance(), who.rank().rank(), who.generation());
    }

    public Incarnation incarnation() {
      return valid("who", () -> new RankId(instance, rank).since(generation));
    }
  }

  /// @param layers of the model that belong to the group
  /// @param state true for a group of recurrent state; else absent
  @OmitsNulls
  record Group(int tokens, String order, List<Handshake.PlaneShape> planes, List<Integer> layers, int windowTokens,
      @Nullable Boolean state) {
    Group {
      planes = copied("group.planes", planes);
      layers = copied("group.layers", layers);
      present("group.order", order);
    }

    static Group of(Manifest.Group group) {
      BlockLayout layout = group.layout();
      return new Group(layout.tokens(), layout.order().name(),
          layout.planes().stream().map(Handshake.PlaneShape::of).toList(), group.layers(), group.windowTokens(),
          group.isState() ? true : null);
    }

    Manifest.Group group() {
      BlockLayout layout = new BlockLayout(layers.size(), tokens, oneOf(TokenOrder.class, "group.order", order),
          planes.stream().map(Handshake.PlaneShape::plane).toList());
      return new Manifest.Group(layout, layers, windowTokens, Boolean.TRUE.equals(state));
    }
  }

  /// @param stageLayers layers of each pipeline stage
  record Shape(String model, List<Group> groups, int tp, int pp, int dp, int pcp, int dcp, List<Integer> stageLayers,
      int draftLayers) {
    Shape {
      name("manifest.model", model);
      groups = copied("manifest.groups", groups);
      stageLayers = copied("manifest.stageLayers", stageLayers);
    }

    static Shape of(Manifest manifest) {
      Parallelism ranks = manifest.parallelism();
      return new Shape(manifest.model(), manifest.groups().stream().map(Group::of).toList(), ranks.tp(), ranks.pp(),
          ranks.dp(), ranks.pcp(), ranks.dcp(), manifest.stageLayers(), manifest.draftLayers());
    }

    Manifest manifest() {
      return valid("manifest", () -> new Manifest(model, groups.stream().map(Group::group).toList(),
          new Parallelism(tp, pp, dp, pcp, dcp), stageLayers, draftLayers));
    }
  }

  /// Claim of a rank for the next start of its process.
  ///
  /// @param least generation that is not below it; null for any
  /// @param secret by which the registry knows the owner of the rank; it needs none from a user
  @OmitsNulls
  public record ClaimRequest(String instance, int rank, @Nullable Long least, byte @Nullable [] secret) {
    public ClaimRequest {
      name("instance", instance);
      if (least != null && least < 0) {
        throw WireFormatException.request("least", ">= 0", least);
      }
    }

    public RankId rankId() {
      return valid("rank", () -> new RankId(instance, rank));
    }

    public long leastOrAny() {
      return least == null ? 0 : least;
    }
  }

  /// @param generation in which the rank is to register
  public record ClaimReply(long generation) {}

  /// The HTTP engine of a rank.
  ///
  /// @param draining true if it wants no new requests; else absent
  @OmitsNulls
  record HttpEngine(String role, String url, @Nullable Boolean draining) {
    HttpEngine {
      present("engine.role", role);
      present("engine.url", url);
    }

    static @Nullable HttpEngine of(@Nullable Engine engine) {
      return engine == null
          ? null
          : new HttpEngine(engine.role().name(), engine.url(), engine.isDraining() ? true : null);
    }

    Engine engine() {
      Engine.Role its = oneOf(Engine.Role.class, "engine.role", role);
      return valid("engine.url", () -> new Engine(its, url, Boolean.TRUE.equals(draining)));
    }

    /// Null if a later release knows a role or a form of address that this one does not: its other ranks still count.
    @Nullable Engine engineIfKnown() {
      try {
        return engine();
      } catch (WireFormatException e) {
        return null;
      }
    }
  }

  /// Registration of a rank: its description and its address.
  ///
  /// @param secret as in [ClaimRequest]
  /// @param engine null if the rank names none
  @OmitsNulls
  public record RegisterRequest(String side, Who who, int version, Shape manifest, String host, int port,
      byte @Nullable [] secret, @Nullable HttpEngine engine) {
    public RegisterRequest {
      present("side", side);
      present("who", who);
      present("manifest", manifest);
      name("host", host);
    }

    public static RegisterRequest of(Registration registration, byte @Nullable [] secret) {
      return new RegisterRequest(registration.side().name(), Who.of(registration.who()), registration.version(),
          Shape.of(registration.manifest()), registration.endpoint().host(), registration.endpoint().port(), secret,
          HttpEngine.of(registration.engine()));
    }

    public Registration registration() {
      Side its = oneOf(Side.class, "side", side);
      Incarnation rank = who.incarnation();
      Manifest shape = manifest.manifest();
      Engine http = engine == null ? null : engine.engine();
      return valid("registration", () -> new Registration(its, rank, version, shape, new Endpoint(host, port), http));
    }
  }

  /// @param heartbeatMillis how often the rank is to say that it lives
  public record RegisterReply(Instance instance, long heartbeatMillis, int misses) {
    public RegisterReply {
      present("instance", instance);
    }

    public static RegisterReply of(InstanceView view, RegistryOptions options) {
      return new RegisterReply(Instance.of(view), options.heartbeat().toMillis(), options.misses());
    }

    public Duration heartbeat() {
      if (heartbeatMillis < 1) {
        throw WireFormatException.request("heartbeatMillis", ">= 1", heartbeatMillis);
      }
      return Duration.ofMillis(heartbeatMillis);
    }
  }

  /// @param leaving whether the rank ends
  /// @param secret as in [ClaimRequest]
  @OmitsNulls
  public record HeartbeatRequest(Who who, @Nullable Boolean leaving, byte @Nullable [] secret) {
    public HeartbeatRequest {
      present("who", who);
    }

    public boolean isLeaving() {
      return Boolean.TRUE.equals(leaving);
    }
  }

  /// @param known false if this incarnation is not registered
  public record HeartbeatReply(boolean known) {}

  /// @param instance null for all
  /// @param after the last rank of the reply before; null for none
  @OmitsNulls
  public record InstancesRequest(@Nullable String instance, @Nullable Receiver after) {
    public @Nullable RankId afterRank() {
      return after == null ? null : after.rankId();
    }
  }

  /// @param more whether further ranks are there
  @OmitsNulls
  public record InstancesReply(List<Instance> instances, @Nullable Boolean more) {
    public InstancesReply {
      instances = copied("instances", instances);
    }

    public static InstancesReply of(List<InstanceView> views, int most) {
      int ranks = views.stream().mapToInt(view -> view.ranks().size()).sum();
      return new InstancesReply(views.stream().map(Instance::of).toList(), ranks == most ? true : null);
    }

    /// The last rank, if further ones are there.
    public @Nullable Receiver next() {
      if (!Boolean.TRUE.equals(more) || instances.isEmpty() || instances.getLast().ranks().isEmpty()) {
        return null;
      }
      Instance last = instances.getLast();
      return new Receiver(last.instance(), last.ranks().getLast().rank());
    }
  }

  /// One instance and its registered ranks.
  public record Instance(String instance, String side, int version, Shape manifest, String state, List<Place> ranks) {
    public Instance {
      name("instance", instance);
      present("side", side);
      present("manifest", manifest);
      present("state", state);
      ranks = copied("ranks", ranks);
    }

    static Instance of(InstanceView view) {
      return new Instance(view.instance(), view.side().name(), view.version(), Shape.of(view.manifest()),
          view.state().name(), view.ranks().stream().map(Place::of).toList());
    }

    public InstanceView view() {
      return new InstanceView(instance, oneOf(Side.class, "side", side), version, manifest.manifest(),
          oneOf(InstanceView.State.class, "state", state),
          ranks.stream().map(place -> place.registered(instance)).toList());
    }
  }

  /// Address of one rank.
  ///
  /// @param engine null if the rank names none
  @OmitsNulls
  record Place(int rank, long generation, String host, int port, @Nullable HttpEngine engine) {
    Place {
      name("host", host);
    }

    static Place of(InstanceView.Registered registered) {
      return new Place(registered.who().rank().rank(), registered.who().generation(), registered.endpoint().host(),
          registered.endpoint().port(), HttpEngine.of(registered.engine()));
    }

    InstanceView.Registered registered(String instance) {
      Engine http = engine == null ? null : engine.engineIfKnown();
      return valid("ranks", () -> new InstanceView.Registered(new RankId(instance, rank).since(generation),
          new Endpoint(host, port), http));
    }
  }

  /// @param replica which has the request; null asks
  @OmitsNulls
  public record ReplicaRequest(String request, @Nullable Integer replica) {
    public ReplicaRequest {
      name("request", request);
      if (replica != null && replica < 0) {
        throw WireFormatException.request("replica", ">= 0", replica);
      }
    }
  }

  /// @param replica null if it is not known
  @OmitsNulls
  public record ReplicaReply(@Nullable Integer replica) {}

  /// @param keys of the blocks to keep; null to release them
  /// @param receivers ranks that report when they are done; null if they are not known yet, and state their number
  @OmitsNulls
  public record KeepRequest(String request, Messages.@Nullable Keys keys, @Nullable List<Receiver> receivers) {
    public KeepRequest {
      name("request", request);
      receivers = receivers == null ? null : copied("receivers", receivers);
    }

    public static KeepRequest of(String request, Messages.Keys keys, Set<RankId> receivers) {
      return new KeepRequest(request, keys,
          receivers.isEmpty() ? null : receivers.stream().sorted().map(Receiver::of).toList());
    }

    /// Empty if they are not known.
    public Set<RankId> ranks() {
      return receivers == null ? Set.of() : receivers.stream().map(Receiver::rankId).collect(Collectors.toSet());
    }
  }

  /// A rank, without its process.
  public record Receiver(String instance, int rank) {
    public Receiver {
      name("receivers.instance", instance);
    }

    static Receiver of(RankId rank) {
      return new Receiver(rank.instance(), rank.rank());
    }

    RankId rankId() {
      return valid("receivers", () -> new RankId(instance, rank));
    }
  }

  /// @param kept whether the rank keeps the request now: one whose receivers are all done has ended already
  /// @param outcome name of a [RequestAnswer.Outcome]; null from a node of an earlier release
  /// @param release name of the [Release] with which the request had ended; null unless `outcome` is `OVER`
  @OmitsNulls
  public record KeepReply(boolean kept, @Nullable String outcome, @Nullable String release) {
    public static KeepReply of(RequestAnswer answer, boolean kept) {
      return new KeepReply(kept, answer.outcome().name(), word(answer.release()));
    }

    /// The answer to a `keep` with keys. A node of an earlier release that keeps nothing then has no reason but the end
    /// of the request.
    public RequestAnswer answer() {
      return outcome != null
          ? answered(outcome, release)
          : kept ? new RequestAnswer(Outcome.APPLIED, null) : new RequestAnswer(Outcome.OVER, Release.DONE);
    }

    /// The answer to a `keep` without keys, which ends the request.
    public RequestAnswer ended() {
      return answered(outcome, release);
    }
  }

  private static @Nullable String word(@Nullable Release release) {
    return release == null ? null : release.name();
  }

  /// A word that this release does not know says no more than an acknowledgement.
  private static RequestAnswer answered(@Nullable String outcome, @Nullable String release) {
    Outcome known = known(Outcome.values(), outcome);
    Release how = known(Release.values(), release);
    return known == null || (known == Outcome.OVER) != (how != null)
        ? new RequestAnswer(Outcome.ACKNOWLEDGED, null)
        : new RequestAnswer(known, how);
  }

  private static <E extends Enum<E>> @Nullable E known(E[] constants, @Nullable String word) {
    return Arrays.stream(constants).filter(each -> each.name().equals(word)).findFirst().orElse(null);
  }

  /// Signal of a receiving rank for a prefill rank.
  ///
  /// @param generation of the prefill rank that is meant
  public record SignalRequest(String kind, String request, Who from, int readers, long generation) {
    public SignalRequest {
      present("kind", kind);
      name("request", request);
      present("from", from);
    }

    public static SignalRequest of(Signal signal, long generation) {
      return new SignalRequest(signal.kind().name(), signal.request(), Who.of(signal.from()), signal.readers(),
          generation);
    }

    public Signal signal() {
      Signal.Kind its = oneOf(Signal.Kind.class, "kind", kind);
      Incarnation rank = from.incarnation();
      return valid("signal", () -> new Signal(its, request, rank, readers));
    }
  }

  /// @param acknowledged always true: that the signal was heard, not that it came in time
  /// @param outcome name of a [RequestAnswer.Outcome]; null from a node of an earlier release
  /// @param release name of the [Release] with which the request had ended; null unless `outcome` is `OVER`
  @OmitsNulls
  public record SignalReply(boolean acknowledged, @Nullable String outcome, @Nullable String release) {
    public static SignalReply of(RequestAnswer answer) {
      return new SignalReply(true, answer.outcome().name(), word(answer.release()));
    }

    public RequestAnswer answer() {
      return answered(outcome, release);
    }
  }
}
