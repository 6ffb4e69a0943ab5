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
  private final int group;
  private final String tenantSalt;
  private final Shard shard;
  private final String fingerprint;
  private final SpaceId id;

  /// @param model digest or name of the model weights, for example the commit of a checkpoint
  /// @param layout shape of a block: layers, tokens, planes with heads, widths and element types, axis order
  /// @param group KV cache group, 0 unless a model has several (sliding window beside full attention)
  /// @param tenantSalt separates tenants; empty for none
  public CacheSpace(String model, BlockLayout layout, int group, String tenantSalt) {
    this(model, layout, group, tenantSalt, Shard.whole(layout), "");
  }

  private CacheSpace(String model, BlockLayout layout, int group, String tenantSalt, Shard shard,
      String fingerprint) {
    this.model = requireNonNull(model, "model");
    this.layout = requireNonNull(layout, "layout");
    this.group = Checks.notNegative("group", group);
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

  public int group() {
    return group;
  }

  public String tenantSalt() {
    return tenantSalt;
  }

  /// Names weights and engine; empty for none.
  public String fingerprint() {
    return fingerprint;
  }

  /// The keys of the whole blocks of `tokens`, in order.
  public List<BlockKey> keys(int[] tokens) {
    return keys(new PrefixHasher(List.of()), tokens);
  }

  /// The keys of the whole blocks of `tokens`, in order.
  ///
  /// @param hasher with other names that distinguish prefixes
  public List<BlockKey> keys(PrefixHasher hasher, int[] tokens) {
    return hasher.all(tokens, layout.tokens()).stream().map(this::key).toList();
  }

  /// The part of the model's layers and heads that a block holds.
  public Shard shard() {
    return shard;
  }

  /// Digest over `penstock.space.v1`, model, layers, tokens, token order name, number of planes, for each plane kind
  /// name, type name, heads and width, then group and salt; unless a block holds all layers and heads, `shard` and the
  /// four numbers of [Shard]; and, with a fingerprint, `fingerprint` and its text.
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
    digest.int32(group).text(tenantSalt);
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
    return "CacheSpace[%s, %s, group %d, %s]".formatted(model, layout, group, publicId());
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
  /// @param field `model`, `layout.layers`, `layout.tokens`, `layout.order`, `layout.planes`, `group`, `shard`, a
  ///     number of the shard as `shard.layers`, `fingerprint`, or `tenantSalt`
  /// @param here a text, a number, or a list of [Plane]
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

  /// The first field in which `other` differs.
  public Optional<Difference> difference(CacheSpace other) {
    if (!model.equals(other.model)) {
      return differs("model", model, other.model);
    } else if (layout.layers() != other.layout.layers()) {
      return differs("layout.layers", layout.layers(), other.layout.layers());
    } else if (layout.tokens() != other.layout.tokens()) {
      return differs("layout.tokens", layout.tokens(), other.layout.tokens());
    } else if (layout.order() != other.layout.order()) {
      return differs("layout.order", layout.order().name(), other.layout.order().name());
    } else if (!layout.planes().equals(other.layout.planes())) {
      return differs("layout.planes", layout.planes(), other.layout.planes());
    } else if (group != other.group) {
      return differs("group", group, other.group);
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
    } else if (group != other.group) {
      return differs("group", group, other.group);
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
