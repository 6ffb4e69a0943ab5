package io.penstock.wire.protocol;

import static io.penstock.wire.protocol.Fields.bytes;
import static io.penstock.wire.protocol.Fields.copied;
import static io.penstock.wire.protocol.Fields.exactly;
import static io.penstock.wire.protocol.Fields.oneOf;
import static io.penstock.wire.protocol.Fields.present;
import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane;
import io.penstock.block.Plane.ElementType;
import io.penstock.block.SpaceId;
import io.penstock.carrier.MemoryProbe;
import io.penstock.carrier.PeerMemoryException;
import io.penstock.wire.transport.Endpoint;
import io.penstock.wire.transport.TransportKind;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// Agreement of two peers on version, space and limits before anything else: the messages of `hello`, and the
/// requirements of each side. [Messages] states the rules of all messages.
public final class Handshake {
  private Handshake() {}

  /// The word for a peer that knows views: [Hello#features], [Welcome#features].
  public static final String VIEWS = "views";

  /// The word for a node that takes rows with the checksums of their whole granules: [Welcome#features].
  public static final String GRANULE_CHECKSUMS = "granule-checksums";

  /// The word for a node that answers a `get` by one slice: [Welcome#features].
  public static final String SHORT_GETS = "short-gets";

  /// Space of a peer; the salt itself never travels, its effect is in `id`.
  ///
  /// @param group number of the KV cache group
  /// @param shard null for all layers and heads of the model
  /// @param kind what else is known of the group; null for full attention in layers without numbers
  /// @param fingerprint of weights and engine; null for none
  @OmitsNulls
  public record Space(byte[] id, String model, int layers, int tokens, String order, List<PlaneShape> planes, int group,
      @Nullable ShardShape shard, @Nullable GroupShape kind, @Nullable String fingerprint) {
    public Space {
      exactly("space.id", id, SpaceId.BYTES);
      present("space.model", model);
      present("space.order", order);
      planes = copied("space.planes", planes);
    }

    public static Space of(CacheSpace space) {
      BlockLayout layout = space.layout();
      return new Space(bytes(space.id()), space.model(), layout.layers(), layout.tokens(), layout.order().name(),
          layout.planes().stream().map(PlaneShape::of).toList(), space.group().number(), ShardShape.of(space),
          GroupShape.of(space.group()), space.fingerprint().isEmpty() ? null : space.fingerprint());
    }

    /// The first field in which `mine` and this space differ, or null.
    public CacheSpace.@Nullable Difference difference(CacheSpace mine) {
      CacheSpace.Difference shown = mine.difference(with(mine.tenantSalt())).orElse(null);
      return shown == null && !spaceId().equals(mine.id()) ? CacheSpace.Difference.SALT : shown;
    }

    /// The first field that keeps views of the blocks of `mine` from landing in blocks of this space, or the other way
    /// round; null if none does.
    public CacheSpace.@Nullable Difference viewDifference(CacheSpace mine) {
      CacheSpace same = with(mine.tenantSalt());
      CacheSpace.Difference shown = mine.viewDifference(same).orElse(null);
      return shown == null && !spaceId().equals(same.id()) ? CacheSpace.Difference.SALT : shown;
    }

    /// This space without a salt.
    public CacheSpace withoutSalt() {
      return with("");
    }

    /// This space with a salt, which the two sides know.
    public CacheSpace with(String salt) {
      List<Plane> shape = planes.stream().map(PlaneShape::plane).toList();
      BlockLayout layout = new BlockLayout(layers, tokens, oneOf(TokenOrder.class, "order", order), shape);
      CacheSpace whole =
          new CacheSpace(model, layout, kind == null ? CacheSpace.Group.of(group) : kind.group(group), salt)
              .withFingerprint(fingerprint == null ? "" : fingerprint);
      return shard == null ? whole : whole.withShard(shard.shard());
    }

    public SpaceId spaceId() {
      return SpaceId.read(ByteBuffer.wrap(id));
    }
  }

  /// See [CacheSpace.Shard].
  record ShardShape(int layers, int firstLayer, int heads, int firstHead) {
    static @Nullable ShardShape of(CacheSpace space) {
      CacheSpace.Shard shard = space.shard();
      return shard.equals(CacheSpace.Shard.whole(space.layout()))
          ? null
          : new ShardShape(shard.layers(), shard.firstLayer(), shard.heads(), shard.firstHead());
    }

    CacheSpace.Shard shard() {
      return new CacheSpace.Shard(layers, firstLayer, heads, firstHead);
    }
  }

  /// See [CacheSpace.Group].
  record GroupShape(int windowTokens, int stateTokens, List<Integer> layers) {
    GroupShape {
      layers = copied("space.kind.layers", layers);
    }

    static @Nullable GroupShape of(CacheSpace.Group group) {
      return group.equals(CacheSpace.Group.of(group.number()))
          ? null
          : new GroupShape(group.windowTokens(), group.stateTokens(), group.layers());
    }

    CacheSpace.Group group(int number) {
      return new CacheSpace.Group(number, windowTokens, stateTokens, layers);
    }
  }

  record PlaneShape(String kind, String type, int heads, int width) {
    static PlaneShape of(Plane plane) {
      return new PlaneShape(plane.kind().name(), plane.type().name(), plane.heads(), plane.width());
    }

    Plane plane() {
      return new Plane(oneOf(Plane.Kind.class, "plane.kind", kind), oneOf(ElementType.class, "plane.type", type), heads,
          width);
    }
  }

  /// One carrier besides frames, as one side has it.
  ///
  /// @param name [Carrier#label]; an unknown name is ignored
  /// @param process of the sender, in which it has its probe; null if it has none
  /// @param descriptor of the probe
  /// @param proof bytes that the sender read in the probe of the receiver; null if it could not, or has not
  /// @param refusal reason; null for none
  @OmitsNulls
  public record CarrierOffer(String name, @Nullable Long process, @Nullable Integer descriptor, byte @Nullable [] proof,
      @Nullable String refusal) {
    public CarrierOffer {
      present("carriers.name", name);
    }

    public static CarrierOffer of(MemoryProbe probe, byte @Nullable [] proof, @Nullable String refusal) {
      return new CarrierOffer(Carrier.SHARED_MEMORY.label(), probe.process(), probe.descriptor(), proof, refusal);
    }

    /// Offer of a side that cannot share memory of its own.
    public static CarrierOffer none(String refusal) {
      return new CarrierOffer(Carrier.SHARED_MEMORY.label(), null, null, null, refusal);
    }

    /// Offer of shared memory; null if there is none.
    public static @Nullable CarrierOffer sharedMemory(@Nullable List<CarrierOffer> offers) {
      return offers == null
          ? null
          : offers.stream().filter(offer -> offer.name().equals(Carrier.SHARED_MEMORY.label())).findFirst()
              .orElse(null);
    }

    /// @throws PeerMemoryException if the peer has no memory to share
    public long requireProcess() {
      if (process == null || descriptor == null) {
        throw new PeerMemoryException("the peer must have memory to share (was refused: " + refusal + ")", null);
      }
      return process;
    }

    /// Bytes of the probe that a client names.
    ///
    /// @throws PeerMemoryException if this process cannot read it
    public byte[] readOfClient() {
      return MemoryProbe.readOfClient(requireProcess(), requireNonNull(descriptor));
    }

    /// Bytes of the probe that a node names.
    ///
    /// @throws PeerMemoryException if this process cannot read it
    public byte[] readOfNode() {
      return MemoryProbe.readOfNode(requireProcess(), requireNonNull(descriptor));
    }
  }

  /// The client's side: the versions it speaks, and its space, if it wants that checked.
  ///
  /// @param carriers besides frames; null for none
  /// @param features other abilities of the client; null for none. With [#VIEWS] it asks for views alone, so the node's
  ///     space may have another layout. An unknown word is ignored
  @OmitsNulls
  public record Hello(List<Integer> versions, @Nullable Space space, String client,
      @Nullable List<CarrierOffer> carriers,
      @Nullable List<String> features) {
    public Hello {
      features = features == null ? null : copied("features", features);
      versions = copied("versions", versions);
      present("client", client);
      carriers = carriers == null ? null : copied("carriers", carriers);
    }

    public Hello(List<Integer> versions, @Nullable Space space, String client) {
      this(versions, space, client, null);
    }

    public Hello(List<Integer> versions, @Nullable Space space, String client, @Nullable List<CarrierOffer> carriers) {
      this(versions, space, client, carriers, null);
    }

    public boolean wantsViews() {
      return features != null && features.contains(VIEWS);
    }

    /// @throws WireFormatException if the versions are others
    public void requireVersion() {
      if (!versions.contains(Routes.VERSION)) {
        throw new WireFormatException(ErrorCode.VERSION_MISMATCH, "versions", "a list with " + Routes.VERSION,
            versions);
      }
    }

    /// @throws WireFormatException if the space is another than `mine`
    public void requireFits(CacheSpace mine) {
      CacheSpace.Difference difference = space == null ? null : space.difference(mine);
      if (difference != null) {
        throw new WireFormatException(ErrorCode.SPACE_MISMATCH, "space." + field(difference), difference.here(),
            difference.there());
      }
    }
  }

  /// Where a [Space] has the value that differs: it has no part for the layout.
  public static String field(CacheSpace.Difference difference) {
    return difference.field().replaceFirst("^layout\\.", "");
  }

  /// Another address of the node.
  ///
  /// @param transport [TransportKind#word]; an unknown word is ignored
  /// @param address as [Endpoint] writes it
  public record Place(String transport, String address) {
    public Place {
      present("endpoints.transport", transport);
      present("endpoints.address", address);
    }

    public static Place of(Endpoint endpoint) {
      return new Place(endpoint.transport().word(), endpoint.toString());
    }

    /// Empty if it is of a kind that is not known here.
    Optional<Endpoint> endpoint() {
      try {
        return Optional.of(Endpoint.parse(address)).filter(known -> known.transport().word().equals(transport));
      } catch (IllegalArgumentException e) {
        return Optional.empty();
      }
    }
  }

  /// The server's side of the handshake: the version chosen, its description, its space, its limits.
  ///
  /// @param carriers the answer to those of the client; null if it offered none
  /// @param host equal for nodes and clients of one host; null if the node does not report it
  /// @param endpoints addresses for this client, the preferred one first; null if the node does not report them
  /// @param features other abilities of the node; null for none, as from a node of protocol version 1.0
  /// @param rankGeneration generation of the node as a registered rank; null if it is none, or has one generation alone
  @OmitsNulls
  public record Welcome(int version, String server, String node, String tier, Space space, int maxSliceBytes,
      int windowBlocks,
      int maxKeys,
      @Nullable Long capacityBlocks, @Nullable Long generation, @Nullable List<CarrierOffer> carriers,
      @Nullable String host, @Nullable List<Place> endpoints, @Nullable List<String> features,
      @Nullable Long rankGeneration) {
    public Welcome(int version, String server, String node, String tier, Space space, int maxSliceBytes,
        int windowBlocks,
        int maxKeys, @Nullable Long capacityBlocks, @Nullable Long generation) {
      this(version, server, node, tier, space, maxSliceBytes, windowBlocks, maxKeys, capacityBlocks, generation, null,
          null, null, null, null);
    }

    public Welcome {
      features = features == null ? null : copied("welcome.features", features);
      carriers = carriers == null ? null : copied("welcome.carriers", carriers);
      endpoints = endpoints == null ? null : copied("welcome.endpoints", endpoints);
      present("welcome.server", server);
      present("welcome.node", node);
      present("welcome.tier", tier);
      present("welcome.space", space);
      try {
        new Limits(maxSliceBytes, windowBlocks, maxKeys);
      } catch (IllegalArgumentException e) {
        throw WireFormatException.request("welcome", "within the limits of the protocol",
            String.valueOf(e.getMessage()));
      }
    }

    /// Endpoints of the node that are known here, the preferred one first.
    public List<Endpoint> places() {
      return endpoints == null ? List.of() : endpoints.stream().flatMap(place -> place.endpoint().stream()).toList();
    }

    public boolean takesGranuleChecksums() {
      return features != null && features.contains(GRANULE_CHECKSUMS);
    }

    public boolean answersShortGets() {
      return features != null && features.contains(SHORT_GETS);
    }

    /// @throws WireFormatException if the version is another
    public void requireVersion() {
      if (version != Routes.VERSION) {
        throw new WireFormatException(ErrorCode.VERSION_MISMATCH, "welcome.version", "" + Routes.VERSION, version);
      }
    }

    /// The space of a node that gives views to clients of `mine`.
    ///
    /// @throws WireFormatException if version or space do not fit, or the node knows no views
    public CacheSpace requireViewsFor(CacheSpace mine) {
      requireVersion();
      if (features == null || !features.contains(VIEWS)) {
        throw new WireFormatException(ErrorCode.VERSION_MISMATCH, "welcome.features", "with " + VIEWS,
            features == null ? "absent" : features);
      }
      CacheSpace.Difference difference = space.viewDifference(mine);
      if (difference != null) {
        throw new WireFormatException(ErrorCode.SPACE_MISMATCH, "welcome.space." + field(difference),
            difference.here(), difference.there());
      }
      return space.with(mine.tenantSalt());
    }

    /// The node refuses differences; a node that does not is not trusted either.
    ///
    /// @throws WireFormatException if version, space or slices do not fit `mine`
    public void requireFits(CacheSpace mine) {
      requireVersion();
      if (!space.spaceId().equals(mine.id())) {
        throw new WireFormatException(ErrorCode.SPACE_MISMATCH, "welcome.space", "" + mine.id(), space.spaceId());
      }
      try {
        new Limits(maxSliceBytes, 1, 1).requireFits(mine.layout());
      } catch (IllegalArgumentException e) {
        throw new WireFormatException(ErrorCode.LIMIT_EXCEEDED, "welcome.maxSliceBytes", "at least one row",
            String.valueOf(e.getMessage()));
      }
    }
  }
}
