package io.penstock.wire;

import static io.penstock.wire.Fields.bytes;
import static io.penstock.wire.Fields.copied;
import static io.penstock.wire.Fields.exactly;
import static io.penstock.wire.Fields.oneOf;
import static io.penstock.wire.Fields.present;
import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.annotation.JsonInclude;
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

/// How two peers agree on version, space and limits before anything else: the messages of `hello`, and what each side
/// requires of the other. [Messages] says what holds for all messages.
final class Handshake {
  private Handshake() {}

  /// The word for a peer that knows views: [Hello#features], [Welcome#features].
  static final String VIEWS = "views";

  /// The word for a node that takes rows with the checksums of their whole granules: [Welcome#features].
  static final String GRANULE_CHECKSUMS = "granule-checksums";

  /// What a peer holds; the salt itself never travels, its effect is in `id`.
  ///
  /// @param shard null for all layers and heads of the model
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Space(byte[] id, String model, int layers, int tokens, String order, List<PlaneShape> planes, int group,
      @Nullable ShardShape shard) {
    Space {
      exactly("space.id", id, SpaceId.BYTES);
      present("space.model", model);
      present("space.order", order);
      planes = copied("space.planes", planes);
    }

    static Space of(CacheSpace space) {
      BlockLayout layout = space.layout();
      return new Space(bytes(space.id()), space.model(), layout.layers(), layout.tokens(), layout.order().name(),
          layout.planes().stream().map(PlaneShape::of).toList(), space.group(), ShardShape.of(space));
    }

    /// The first field in which `mine` and this space differ, or null.
    CacheSpace.@Nullable Difference difference(CacheSpace mine) {
      CacheSpace.Difference shown = mine.difference(with(mine.tenantSalt())).orElse(null);
      return shown == null && !spaceId().equals(mine.id()) ? CacheSpace.Difference.SALT : shown;
    }

    /// The first field that keeps views of the blocks of `mine` from landing in blocks of this space, or the other way
    /// round; null if none does.
    CacheSpace.@Nullable Difference viewDifference(CacheSpace mine) {
      CacheSpace same = with(mine.tenantSalt());
      CacheSpace.Difference shown = mine.viewDifference(same).orElse(null);
      return shown == null && !spaceId().equals(same.id()) ? CacheSpace.Difference.SALT : shown;
    }

    /// This space if it has no salt.
    CacheSpace withoutSalt() {
      return with("");
    }

    CacheSpace with(String salt) {
      List<Plane> shape = planes.stream().map(PlaneShape::plane).toList();
      BlockLayout layout = new BlockLayout(layers, tokens, oneOf(TokenOrder.class, "order", order), shape);
      CacheSpace whole = new CacheSpace(model, layout, group, salt);
      return shard == null ? whole : whole.withShard(shard.shard());
    }

    SpaceId spaceId() {
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
  /// @param name [Carrier#label]; a name that is not known here counts for nothing
  /// @param process of the sender, in which it has its probe; null if it has none
  /// @param descriptor of the probe
  /// @param proof what the sender read in the probe of the receiver; null if it could not, or has not
  /// @param refusal why not; null for no reason
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record CarrierOffer(String name, @Nullable Long process, @Nullable Integer descriptor, byte @Nullable [] proof,
      @Nullable String refusal) {
    CarrierOffer {
      present("carriers.name", name);
    }

    static CarrierOffer of(MemoryProbe probe, byte @Nullable [] proof, @Nullable String refusal) {
      return new CarrierOffer(Carrier.SHARED_MEMORY.label(), probe.process(), probe.descriptor(), proof, refusal);
    }

    /// Of a side that cannot share memory of its own.
    static CarrierOffer none(String refusal) {
      return new CarrierOffer(Carrier.SHARED_MEMORY.label(), null, null, null, refusal);
    }

    /// That of shared memory; null if there is none.
    static @Nullable CarrierOffer sharedMemory(@Nullable List<CarrierOffer> offers) {
      return offers == null
          ? null
          : offers.stream().filter(offer -> offer.name().equals(Carrier.SHARED_MEMORY.label())).findFirst()
              .orElse(null);
    }

    /// @throws PeerMemoryException if the peer has no memory to share
    long requireProcess() {
      if (process == null || descriptor == null) {
        throw new PeerMemoryException("the peer must have memory to share (was refused: " + refusal + ")", null);
      }
      return process;
    }

    /// What stands in the probe that a client tells of.
    ///
    /// @throws PeerMemoryException if this process cannot read it
    byte[] readOfClient() {
      return MemoryProbe.readOfClient(requireProcess(), requireNonNull(descriptor));
    }

    /// What stands in the probe that a node tells of.
    ///
    /// @throws PeerMemoryException if this process cannot read it
    byte[] readOfNode() {
      return MemoryProbe.readOfNode(requireProcess(), requireNonNull(descriptor));
    }
  }

  /// The client's side: the versions it speaks, and what it holds, if it wants that checked.
  ///
  /// @param carriers besides frames; null for none
  /// @param features what else the client knows; null for nothing. With [#VIEWS] it asks for views alone, so the
  ///     node's space may have another layout. A word that is not known here counts for nothing
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Hello(List<Integer> versions, @Nullable Space space, String client, @Nullable List<CarrierOffer> carriers,
      @Nullable List<String> features) {
    Hello {
      features = features == null ? null : copied("features", features);
      versions = copied("versions", versions);
      present("client", client);
      carriers = carriers == null ? null : copied("carriers", carriers);
    }

    Hello(List<Integer> versions, @Nullable Space space, String client) {
      this(versions, space, client, null);
    }

    Hello(List<Integer> versions, @Nullable Space space, String client, @Nullable List<CarrierOffer> carriers) {
      this(versions, space, client, carriers, null);
    }

    boolean wantsViews() {
      return features != null && features.contains(VIEWS);
    }

    /// @throws WireFormatException if the versions are others
    void requireVersion() {
      if (!versions.contains(Routes.VERSION)) {
        throw new WireFormatException(ErrorCode.VERSION_MISMATCH, "versions", "a list with " + Routes.VERSION,
            versions);
      }
    }

    /// @throws WireFormatException if the space is another than `mine`
    void requireFits(CacheSpace mine) {
      CacheSpace.Difference difference = space == null ? null : space.difference(mine);
      if (difference != null) {
        throw new WireFormatException(ErrorCode.SPACE_MISMATCH, "space." + difference.field(), difference.here(),
            difference.there());
      }
    }
  }

  /// Where else the node can be talked to.
  ///
  /// @param transport [TransportKind#word]; one that is not known here counts for nothing
  /// @param address as [Endpoint] writes it
  record Place(String transport, String address) {
    Place {
      present("endpoints.transport", transport);
      present("endpoints.address", address);
    }

    static Place of(Endpoint endpoint) {
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

  /// The server's side of the handshake: the version chosen, what it is, what it holds, what it allows.
  ///
  /// @param carriers the answer to those of the client; null if it offered none
  /// @param host equal for nodes and clients of one host; null if the node does not tell
  /// @param endpoints where this client can reach the node, the preferred one first; null if the node does not tell
  /// @param features what else the node knows; null for nothing, as from a node of protocol version 1.0
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Welcome(int version, String server, String node, String tier, Space space, int maxSliceBytes, int windowBlocks,
      int maxKeys,
      @Nullable Long capacityBlocks, @Nullable Long generation, @Nullable List<CarrierOffer> carriers,
      @Nullable String host, @Nullable List<Place> endpoints, @Nullable List<String> features) {
    Welcome(int version, String server, String node, String tier, Space space, int maxSliceBytes, int windowBlocks,
        int maxKeys, @Nullable Long capacityBlocks, @Nullable Long generation) {
      this(version, server, node, tier, space, maxSliceBytes, windowBlocks, maxKeys, capacityBlocks, generation, null,
          null, null, null);
    }

    Welcome {
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

    /// Those of the node that are known here, the preferred one first.
    List<Endpoint> places() {
      return endpoints == null ? List.of() : endpoints.stream().flatMap(place -> place.endpoint().stream()).toList();
    }

    boolean takesGranuleChecksums() {
      return features != null && features.contains(GRANULE_CHECKSUMS);
    }

    /// @throws WireFormatException if the version is another
    void requireVersion() {
      if (version != Routes.VERSION) {
        throw new WireFormatException(ErrorCode.VERSION_MISMATCH, "welcome.version", "" + Routes.VERSION, version);
      }
    }

    /// The space of a node that gives views to clients of `mine`.
    ///
    /// @throws WireFormatException if version or space do not fit, or the node knows no views
    CacheSpace requireViewsFor(CacheSpace mine) {
      requireVersion();
      if (features == null || !features.contains(VIEWS)) {
        throw new WireFormatException(ErrorCode.VERSION_MISMATCH, "welcome.features", "with " + VIEWS,
            features == null ? "absent" : features);
      }
      CacheSpace.Difference difference = space.viewDifference(mine);
      if (difference != null) {
        throw new WireFormatException(ErrorCode.SPACE_MISMATCH, "welcome.space." + difference.field(),
            difference.here(), difference.there());
      }
      return space.with(mine.tenantSalt());
    }

    /// The node refuses what differs; a node that does not is not believed either.
    ///
    /// @throws WireFormatException if version, space or slices do not fit `mine`
    void requireFits(CacheSpace mine) {
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
