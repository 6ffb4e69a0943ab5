package io.penstock.wire.server.space;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.SliceShape;
import io.penstock.block.SpaceId;
import io.penstock.tier.BlockTier;
import io.penstock.tier.TierInfo;
import io.penstock.wire.protocol.ErrorCode;
import io.penstock.wire.protocol.Fields;
import io.penstock.wire.protocol.Handshake;
import io.penstock.wire.protocol.Limits;
import io.penstock.wire.protocol.Messages;
import io.penstock.wire.protocol.Routes;
import io.penstock.wire.protocol.WireFormatException;
import io.penstock.wire.security.Caller;
import io.penstock.wire.security.Grant;
import io.penstock.wire.security.Role;
import io.penstock.wire.server.call.Call;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// Finds the tier of the space that a request names, if the caller may have it do that.
///
/// A request that needs a right keeps it among its own, so that its streams, and what it holds, end when the caller
/// loses it.
///
/// @param caller null if every peer may do everything
public record ServedSpaces(NodeSpaces spaces, Limits limits, @Nullable Caller caller) {
  /// @throws IllegalArgumentException if a slice cannot hold one row of the layout of a tier
  public ServedSpaces {
    spaces.tiers().forEach(tier -> limits.requireFits(tier.info().space().layout()));
  }

  public ServedSpaces(NodeSpaces spaces, Limits limits) {
    this(spaces, limits, null);
  }

  /// Routes for one user; a space in which the user has no role does not exist for that user.
  public ServedSpaces of(Caller user) {
    return new ServedSpaces(new VisibleSpaces(spaces, user), limits, user);
  }

  /// @param id null for the first space
  /// @throws WireFormatException naming the spaces that the node has, if it lacks this one; or saying that the caller
  ///     must not use `route` there
  public BlockTier of(Call call, String field, byte @Nullable [] id) {
    return allowed(call, id == null ? first() : of(field, Fields.spaceId(field, id)));
  }

  BlockTier of(Call call, String field, SpaceId id) {
    return allowed(call, of(field, id));
  }

  /// The tier of `keys`.
  public BlockTier of(Call call, Messages.Keys keys) {
    return of(call, "keys.space", keys.spaceId());
  }

  /// The keys of a request for `tier`, of which there may be no more than the node allows.
  public List<BlockKey> keys(Messages.Keys keys, BlockTier tier) {
    return keys.in(tier.info().space().id(), limits.maxKeys());
  }

  /// How the blocks of `layout` that a request asks for are cut.
  ///
  /// @throws WireFormatException if that is beyond the limits of the node
  public SliceShape shape(Messages.GetRequest request, BlockLayout layout) {
    return new SliceShape(windowBlocks(request.windowBlocks()), sliceBytes(request.maxSliceBytes(), layout),
        request.sliceOrder(), startLayer(request.startLayer(), layout));
  }

  private static int startLayer(int layer, BlockLayout layout) {
    if (layer < 0 || layer >= layout.layers()) {
      throw WireFormatException.request("startLayer", "in [0, " + layout.layers() + ")", layer);
    }
    return layer;
  }

  /// The tiers whose spaces have no salt, and in which the caller may use the route of `call`: those that a request
  /// reaches without naming them.
  ///
  /// @throws WireFormatException if the caller must not use the route in any of them
  public List<BlockTier> unsalted(Call call) {
    List<BlockTier> all =
        spaces.tiers().stream().filter(tier -> tier.info().space().tenantSalt().isEmpty()).toList();
    List<BlockTier> allowed = all.stream().filter(tier -> !lacks(call.route(), tier)).toList();
    return allowed.isEmpty() && !all.isEmpty() ? List.of(allowed(call, all.getFirst())) : allowed;
  }

  /// Most bytes of a slice of blocks of `layout`, as a request wants it.
  public int sliceBytes(int asked, BlockLayout layout) {
    int bytes = within("maxSliceBytes", asked, 4096, limits.maxSliceBytes());
    new Limits(bytes, 1, 1).requireFits(layout);
    return bytes;
  }

  /// Most blocks of a window, as a request wants it.
  public int windowBlocks(int asked) {
    return within("windowBlocks", asked, 1, limits.windowBlocks());
  }

  private static int within(String field, int asked, int least, int most) {
    if (asked < least || asked > most) {
      throw new WireFormatException(ErrorCode.LIMIT_EXCEEDED, field, "in [" + least + ", " + most + "]", asked);
    }
    return asked;
  }

  private BlockTier allowed(Call call, BlockTier tier) {
    require(call, Routes.roleFor(call.route()), call.route(), tier);
    return tier;
  }

  /// @param what operation, in the words of a message
  /// @throws WireFormatException if the caller has a role in the space of `tier` that does not include `least`
  public void require(Call call, Role least, String what, BlockTier tier) {
    Caller user = caller;
    if (user != null) {
      call.rights().require(() -> lack(user, least, what, tier));
    }
  }

  /// Whether the caller must not use `route` in the space of `tier` any more.
  public boolean lacks(String route, BlockTier tier) {
    return caller != null && lack(caller, Routes.roleFor(route), route, tier) != null;
  }

  /// A segment lies in no space, so its routes are for users who have a role in every space.
  ///
  /// @throws WireFormatException if the caller has no such role, or one that does not include `route`
  public void requireSegments(Call call) {
    Caller user = caller;
    if (user != null) {
      String route = call.route();
      call.rights().require(() -> lack(user, Routes.roleFor(route), route, Grant.EVERY, "every space"));
    }
  }

  /// Whether the caller may use `route` of segments.
  public boolean allowsSegments(String route) {
    return caller == null
        || caller.role(Grant.EVERY).filter(role -> role.includes(Routes.roleFor(route))).isPresent();
  }

  private static @Nullable WireFormatException lack(Caller caller, Role least, String what, BlockTier tier) {
    String space = tier.info().name();
    return lack(caller, least, what, space, "space " + space);
  }

  private static @Nullable WireFormatException lack(Caller caller, Role least, String what, String space,
      String where) {
    Role role = caller.isKnown() ? caller.role(space).orElse(null) : null;
    return role != null && role.includes(least)
        ? null
        : new WireFormatException(ErrorCode.FORBIDDEN, "role", least.word() + " for " + what + " in " + where,
            role == null ? "none" : role.word());
  }

  private BlockTier of(String field, SpaceId id) {
    for (BlockTier tier : spaces.tiers()) {
      if (tier.info().space().id().equals(id)) {
        return tier;
      }
    }
    throw new WireFormatException(ErrorCode.SPACE_MISMATCH, field, names(), id);
  }

  /// The tier of a request that names no space: the only one, or the first without a salt, so that no peer reaches a
  /// tenant's blocks without knowing the space.
  ///
  /// @throws WireFormatException if all of several spaces have a salt
  private BlockTier first() {
    List<BlockTier> tiers = spaces.tiers();
    return tiers.size() == 1
        ? tiers.getFirst()
        : tiers.stream().filter(tier -> tier.info().space().tenantSalt().isEmpty()).findFirst()
            .orElseThrow(() -> new WireFormatException(ErrorCode.SPACE_MISMATCH, "space", "named", "absent"));
  }

  private String names() {
    List<BlockTier> tiers = spaces.tiers();
    if (tiers.isEmpty()) {
      return "one in which the user has a role";
    }
    return tiers.size() == 1
        ? name(tiers.getFirst().info())
        : tiers.stream().map(tier -> shown(tier.info())).collect(Collectors.joining(", ", "one of ", ""));
  }

  private static String shown(TierInfo info) {
    CacheSpace space = info.space();
    return (info.name() + " " + space.publicId()).strip()
        + (space.hasValues() ? " (values in parts of " + space.layout().blockBytes() + " bytes)" : "");
  }

  private static String name(TierInfo info) {
    String id = info.space().publicId();
    return id.isEmpty() ? info.name() : id;
  }

  /// The tier for a client that says `hello`; opened for it if the node does so.
  ///
  /// @return signals [WireFormatException] if versions or spaces differ
  public Mono<BlockTier> of(Handshake.Hello hello) {
    hello.requireVersion();
    Handshake.Space wanted = hello.space();
    if (wanted == null) {
      return Mono.just(first());
    }
    SpaceId id = wanted.spaceId();
    for (BlockTier tier : spaces.tiers()) {
      if (tier.info().space().id().equals(id)) {
        hello.requireFits(tier.info().space());
        return Mono.just(tier);
      }
    }
    if (hello.wantsViews()) {
      return Mono.just(viewed(wanted));
    }
    return spaces.areOpen() ? open(wanted) : Mono.error(refusal(hello, wanted));
  }

  /// The first tier whose blocks give views to a client of `wanted`.
  ///
  /// @throws WireFormatException naming the first field that keeps those of the first tier of the same model from it
  private BlockTier viewed(Handshake.Space wanted) {
    List<BlockTier> tiers = spaces.tiers();
    for (BlockTier tier : tiers) {
      if (wanted.viewDifference(tier.info().space()) == null) {
        return tier;
      }
    }
    CacheSpace near = tiers.stream().map(tier -> tier.info().space())
        .filter(space -> space.model().equals(wanted.model())).findFirst()
        .orElseThrow(() -> new WireFormatException(ErrorCode.SPACE_MISMATCH, "space.model", names(), wanted.model()));
    CacheSpace.Difference difference = requireNonNull(wanted.viewDifference(near), "no tier fits");
    throw new WireFormatException(ErrorCode.SPACE_MISMATCH, "space." + Handshake.field(difference), difference.here(),
        difference.there());
  }

  /// The first difference from the only space, or from the spaces of the same model, if there is one such space.
  private WireFormatException refusal(Handshake.Hello hello, Handshake.Space wanted) {
    List<CacheSpace> all = spaces.tiers().stream().map(tier -> tier.info().space()).toList();
    List<CacheSpace> near =
        all.size() == 1 ? all : all.stream().filter(space -> space.model().equals(wanted.model())).toList();
    if (near.size() == 1) {
      try {
        hello.requireFits(near.getFirst());
      } catch (WireFormatException e) {
        return e;
      }
    }
    return new WireFormatException(ErrorCode.SPACE_MISMATCH, "space", names(), wanted.model() + " " + wanted.spaceId());
  }

  /// A salt does not travel, so a space with a salt is opened by configuration alone.
  private Mono<BlockTier> open(Handshake.Space wanted) {
    CacheSpace plain = wanted.withoutSalt();
    if (!plain.id().equals(wanted.spaceId())) {
      throw new WireFormatException(ErrorCode.SPACE_MISMATCH, "space.tenantSalt", "that of a configured space",
          wanted.spaceId());
    }
    try {
      limits.requireFits(plain.layout());
    } catch (IllegalArgumentException e) {
      throw new WireFormatException(ErrorCode.LIMIT_EXCEEDED, "space", String.valueOf(e.getMessage()),
          plain.id());
    }
    return spaces.open(plain).switchIfEmpty(Mono.error(
        () -> new WireFormatException(ErrorCode.SPACE_MISMATCH, "space",
            "one of " + names() + ": this node opens no others", plain.model() + " " + plain.id())));
  }
}
