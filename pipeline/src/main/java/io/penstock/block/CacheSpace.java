package io.penstock.block;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// All that makes equal content hashes mean different bytes. Two nodes exchange blocks only when their spaces are
/// equal.
///
/// The tenant salt lives here only: it changes [#id()], thereby every key, and is never sent in clear in a key.
///
/// Equal spaces have equal digests, and the other way round. The digest is computed once, by the constructor.
public final class CacheSpace {
  private final String model;
  private final BlockLayout layout;
  private final Group group;
  private final String tenantSalt;
  private final Shard shard;
  private final String fingerprint;
  private final SpaceId id;

  /// @param model digest or name of the model weights, for example the commit of a checkpoint
  /// @param layout shape of a block: layers, tokens, planes with heads, widths and element types, axis order
  /// @param group KV cache group, 0 unless a model has several (sliding window beside full attention)
  /// @param tenantSalt separates tenants; empty for none
  public CacheSpace(String model, BlockLayout layout, int group, String tenantSalt) {
    this(model, layout, Group.of(group), tenantSalt);
  }

  /// The space of a group of layers whose blocks continue a prefix in another way than full attention does.
  public CacheSpace(String model, BlockLayout layout, Group group, String tenantSalt) {
    this(model, layout, group, tenantSalt, Shard.whole(layout), "");
  }

  private CacheSpace(String model, BlockLayout layout, Group group, String tenantSalt, Shard shard,
      String fingerprint) {
    this.model = requireNonNull(model, "model");
    this.layout = requireNonNull(layout, "layout");
    this.group = group.requireOf(layout);
    this.tenantSalt = requireNonNull(tenantSalt, "tenantSalt");
    this.shard = shard.requireOf(layout);
    this.fingerprint = requireNonNull(fingerprint, "fingerprint");
    this.id = digest();
  }

  /// This space, for blocks that hold a part of the layers and heads of the model: those of one rank.
  public CacheSpace withShard(Shard newShard) {
    return new CacheSpace(model, layout, group, tenantSalt, newShard, fingerprint);
  }

  /// This space, for KV of certain weights and a certain engine. A model's name does not tell new weights from old
  /// ones, and engines round differently: blocks of another fingerprint are blocks of another space.
  ///
  /// @param newFingerprint digest of the weights and version of the engine, such as `sha256:4f1c… jlama 0.8.4`; empty
  ///     for none
  public CacheSpace withFingerprint(String newFingerprint) {
    return new CacheSpace(model, layout, group, tenantSalt, shard, newFingerprint);
  }

  /// A space without groups or salt.
  public static CacheSpace of(String model, BlockLayout layout) {
    return new CacheSpace(model, layout, 0, "");
  }

  public String model() {
    return model;
  }

  public BlockLayout layout() {
    return layout;
  }

  /// The group of layers whose cache a block holds.
  public Group group() {
    return group;
  }

  public String tenantSalt() {
    return tenantSalt;
  }

  /// Names weights and engine; empty for none.
  public String fingerprint() {
    return fingerprint;
  }

  /// The keys of the whole blocks of `tokens`, in order; of the states, in the space of a state group.
  public List<BlockKey> keys(int[] tokens) {
    return keys(new PrefixHasher(List.of()), tokens);
  }

  /// The keys of the whole blocks of `tokens`, in order.
  ///
  /// @param hasher with other names that distinguish prefixes
  public List<BlockKey> keys(PrefixHasher hasher, int[] tokens) {
    return hasher.all(tokens, group.strideTokens(layout)).stream().map(this::key).toList();
  }

  /// The part of the model's layers and heads that a block holds.
  public Shard shard() {
    return shard;
  }

  /// Digest over `penstock.space.v1`, model, layers, tokens, token order name, number of planes, for each plane kind
  /// name, type name, heads and width, then number of the group and salt; unless the group is one of full attention
  /// without numbers of layers, `group`, window, tokens of a state, number of layers and their numbers; unless a block
  /// holds all layers and heads, `shard` and the four numbers of [Shard]; and, with a fingerprint, `fingerprint` and
  /// its text.
  public SpaceId id() {
    return id;
  }

  private SpaceId digest() {
    CanonicalDigest digest = new CanonicalDigest("penstock.space.v1")
        .text(model).int32(layout.layers()).int32(layout.tokens()).text(layout.order().name())
        .int32(layout.planes().size());
    for (Plane plane : layout.planes()) {
      digest.text(plane.kind().name()).text(plane.type().name()).int32(plane.heads()).int32(plane.width());
    }
    digest.int32(group.number()).text(tenantSalt);
    if (!group.equals(Group.of(group.number()))) {
      digest.text("group").int32(group.windowTokens()).int32(group.stateTokens()).int32(group.layers().size());
      group.layers().forEach(digest::int32);
    }
    if (!shard.equals(Shard.whole(layout))) {
      digest.text("shard").int32(shard.layers()).int32(shard.firstLayer()).int32(shard.heads())
          .int32(shard.firstHead());
    }
    if (!fingerprint.isEmpty()) {
      digest.text("fingerprint").text(fingerprint);
    }
    return SpaceId.read(digest.first16());
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof CacheSpace space && id.equals(space.id);
  }

  @Override
  public int hashCode() {
    return id.hashCode();
  }

  /// Without the salt, which is secret.
  @Override
  public String toString() {
    return "CacheSpace[%s, %s, %s, %s]".formatted(model, layout, group, publicId());
  }

  /// The id in hex as a node shows it; empty with a salt. A peer that knows the id can ask for blocks, so the id of a
  /// tenant is as secret as the salt.
  public String publicId() {
    return tenantSalt.isEmpty() ? id().toString() : "";
  }

  /// The key of `hash` in this space.
  public BlockKey key(BlockHash hash) {
    return new BlockKey(id, hash);
  }

  /// A field in which two spaces differ, and its values. The values of the salt are left out.
  ///
  /// @param field `model`, `layout.layers`, `layout.tokens`, `layout.order`, `layout.planes`, `group`, a
  ///     part of the group as `group.windowTokens`, `shard`, a number of the shard as `shard.layers`, `fingerprint`, or
  ///     `tenantSalt`
  /// @param here a text, a number, a list of numbers, or a list of [Plane]
  /// @param there of the same type
  public record Difference(String field, Object here, Object there) {
    /// Difference of tenants, without values: the salts are secret.
    public static final Difference SALT = new Difference("tenantSalt", "the same", "another");

    public Difference {
      requireNonNull(field, "field");
      requireNonNull(here, "here");
      requireNonNull(there, "there");
    }

    /// *field: this value, other value*.
    @Override
    public String toString() {
      return field + ": " + here + ", " + there;
    }
  }

  /// Whether its blocks are parts of values of any length, not of the KV cache of a model.
  public boolean hasValues() {
    return layout.layers() == 1 && layout.planes().size() == 1
        && layout.planes().getFirst().kind() == Plane.Kind.VALUE;
  }

  /// The first field in which `other` differs; the planes if one space has values and the other has not.
  public Optional<Difference> difference(CacheSpace other) {
    if (!model.equals(other.model)) {
      return differs("model", model, other.model);
    } else if (hasValues() != other.hasValues()) {
      return differs("layout.planes", layout.planes(), other.layout.planes());
    } else if (layout.layers() != other.layout.layers()) {
      return differs("layout.layers", layout.layers(), other.layout.layers());
    } else if (layout.tokens() != other.layout.tokens()) {
      return differs("layout.tokens", layout.tokens(), other.layout.tokens());
    } else if (layout.order() != other.layout.order()) {
      return differs("layout.order", layout.order().name(), other.layout.order().name());
    } else if (!layout.planes().equals(other.layout.planes())) {
      return differs("layout.planes", layout.planes(), other.layout.planes());
    } else if (!group.equals(other.group)) {
      return group.difference(other.group);
    } else if (!shard.equals(other.shard)) {
      return differs("shard", "" + shard, "" + other.shard);
    } else if (!fingerprint.equals(other.fingerprint)) {
      return differs("fingerprint", fingerprint, other.fingerprint);
    }
    return tenantSalt.equals(other.tenantSalt) ? Optional.empty() : Optional.of(Difference.SALT);
  }

  /// The first field that keeps views of the blocks of one space from landing in blocks of the other. The spaces may
  /// differ in tokens a block, axis order, and in which layers and heads of the model a block holds.
  public Optional<Difference> viewDifference(CacheSpace other) {
    if (!model.equals(other.model)) {
      return differs("model", model, other.model);
    } else if (shard.layers() != other.shard.layers()) {
      return differs("shard.layers", shard.layers(), other.shard.layers());
    } else if (shard.heads() != other.shard.heads()) {
      return differs("shard.heads", shard.heads(), other.shard.heads());
    } else if (!shapes(layout).equals(shapes(other.layout))) {
      return differs("layout.planes", layout.planes(), other.layout.planes());
    } else if (!group.withoutLayers().equals(other.group.withoutLayers())) {
      return group.difference(other.group);
    } else if (!fingerprint.equals(other.fingerprint)) {
      return differs("fingerprint", fingerprint, other.fingerprint);
    }
    return tenantSalt.equals(other.tenantSalt) ? Optional.empty() : Optional.of(Difference.SALT);
  }

  /// The planes of one head; as they are if they differ in heads, which no view then splits.
  private static List<Plane> shapes(BlockLayout layout) {
    return layout.hasEqualHeads()
        ? layout.planes().stream().map(plane -> new Plane(plane.kind(), plane.type(), 1, plane.width())).toList()
        : layout.planes();
  }

  private static Optional<Difference> differs(String name, Object here, Object there) {
    return Optional.of(new Difference(name, here, there));
  }

  /// A KV cache group: layers of a model whose cache is kept in blocks of one shape, and how far those layers look
  /// back. Models that mix full attention with sliding windows or recurrent states have several groups, and a space for
  /// each.
  ///
  /// @param number place among the groups of the model, from 0
  /// @param windowTokens how far back a token looks, itself included; 0 without a sliding window
  /// @param stateTokens if a block is the state of recurrent layers after all tokens so far instead of the cache of
  ///     some: the tokens from one state to the next; else 0
  /// @param layers numbers in the model of the layers of a block, in ascending order; empty if unknown
  public record Group(int number, int windowTokens, int stateTokens, List<Integer> layers) {
    public Group {
      Checks.notNegative("group", number);
      Checks.notNegative("windowTokens", windowTokens);
      Checks.notNegative("stateTokens", stateTokens);
      layers = List.copyOf(layers);
      if (windowTokens > 0 && stateTokens > 0) {
        throw new IllegalArgumentException(
            "windowTokens must be 0 for a state (was " + windowTokens + ", stateTokens " + stateTokens + ")");
      }
      for (int i = 0; i < layers.size(); i++) {
        Checks.notNegative("group.layers", layers.get(i));
        if (i > 0 && layers.get(i) <= layers.get(i - 1)) {
          throw new IllegalArgumentException("group.layers must be in ascending order (was " + layers + ")");
        }
      }
    }

    /// A group of full attention whose layers are not numbered.
    public static Group of(int number) {
      return new Group(number, 0, 0, List.of());
    }

    /// Tokens of the prompt from one block to the next.
    ///
    /// @param layout of a block
    public int strideTokens(BlockLayout layout) {
      return stateTokens > 0 ? stateTokens : layout.tokens();
    }

    private Group withoutLayers() {
      return new Group(number, windowTokens, stateTokens, List.of());
    }

    private Group requireOf(BlockLayout layout) {
      if (!layers.isEmpty() && layers.size() != layout.layers()) {
        throw new IllegalArgumentException("group.layers must be none, or %d numbers, one for each layer (was %d)"
            .formatted(layout.layers(), layers.size()));
      }
      if (stateTokens > 0 && layout.tokens() != 1) {
        throw new IllegalArgumentException(
            "layout.tokens must be 1 for a state, which a block has one of (was " + layout.tokens() + ")");
      }
      return this;
    }

    private Optional<Difference> difference(Group other) {
      if (number != other.number) {
        return differs("group", number, other.number);
      } else if (windowTokens != other.windowTokens) {
        return differs("group.windowTokens", windowTokens, other.windowTokens);
      } else if (stateTokens != other.stateTokens) {
        return differs("group.stateTokens", stateTokens, other.stateTokens);
      }
      return differs("group.layers", layers, other.layers);
    }

    /// *group 1*, *group 1, window of 1024 tokens*, or *group 1, a state every 512 tokens*.
    @Override
    public String toString() {
      return "group " + number + (windowTokens > 0 ? ", window of " + windowTokens + " tokens" : "")
          + (stateTokens > 0 ? ", a state every " + stateTokens + " tokens" : "");
    }
  }

  /// The part of a model that the blocks of a space hold: a run of its layers (pipeline parallel) and of its KV heads
  /// (tensor parallel). How long the runs are says the layout.
  ///
  /// @param layers of the model
  /// @param firstLayer the model's number of a block's first layer
  /// @param heads KV heads of the model
  /// @param firstHead the model's number of a block's first head
  public record Shard(int layers, int firstLayer, int heads, int firstHead) {
    public Shard {
      Checks.positive("shard.layers", layers);
      Checks.notNegative("shard.firstLayer", firstLayer);
      Checks.positive("shard.heads", heads);
      Checks.notNegative("shard.firstHead", firstHead);
    }

    /// All layers and heads.
    public static Shard whole(BlockLayout layout) {
      return new Shard(layout.layers(), 0, layout.heads(), 0);
    }

    private Shard requireOf(BlockLayout layout) {
      if (firstLayer > layers - layout.layers()) {
        throw new IllegalArgumentException("shard.layers must be >= firstLayer + layers of a block (was " + layers
            + ", " + firstLayer + " + " + layout.layers() + ")");
      }
      if (firstHead > heads - layout.heads()) {
        throw new IllegalArgumentException("shard.heads must be >= firstHead + heads of a block (was " + heads + ", "
            + firstHead + " + " + layout.heads() + ")");
      }
      return this;
    }

    /// *layers 4 … of 32, heads 2 … of 8*.
    @Override
    public String toString() {
      return "layers %d … of %d, heads %d … of %d".formatted(firstLayer, layers, firstHead, heads);
    }
  }
}
