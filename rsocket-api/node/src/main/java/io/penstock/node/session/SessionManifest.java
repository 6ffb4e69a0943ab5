package io.penstock.node.session;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane;
import io.penstock.block.PrefixHasher;
import io.penstock.block.session.SessionId;
import io.penstock.node.cli.DataException;
import io.penstock.node.text.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/// What a folder says of the blocks in it.
///
/// @param session name of the session
/// @param space whose blocks these are
/// @param tensors name of the file with the bytes
/// @param blocks in the order of the file
public record SessionManifest(String format, int version, String session, Space space, String tensors,
    List<Entry> blocks) {
  public static final String NAME = "session.json";
  static final String FORMAT = "penstock-session";
  static final int VERSION = 1;
  static final String TENSORS = "blocks.safetensors";
  private static final long MOST_BYTES = 256 << 20;
  private static final JsonMapper STRICT = Json.MAPPER.rebuild().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
      .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).enable(
          DeserializationFeature.FAIL_ON_NULL_FOR_PRIMITIVES)
      .build();

  public SessionManifest {
    require(FORMAT.equals(format), "format", FORMAT, format);
    require(version == VERSION, "version", VERSION, version);
    require(TENSORS.equals(tensors), "tensors", TENSORS, tensors);
    SessionId.of(requireNonNull(session, "session")); // checks its length
    requireNonNull(space, "space");
    blocks = List.copyOf(blocks);
    Set<String> hashes = new HashSet<>();
    for (Entry block : blocks) {
      require(hashes.add(block.hash), "hashes", "distinct", block.hash + " twice");
    }
  }

  private static void require(boolean holds, String field, Object rule, @Nullable Object was) {
    if (!holds) {
      throw new IllegalArgumentException("%s must be %s (was %s)".formatted(field, rule, was));
    }
  }

  /// One block.
  ///
  /// @param sha256 of its bytes
  /// @param parent hash of the block before it; null if that is not known
  /// @param tokens of the block; null if they are not known
  public record Entry(String hash, String sha256, @Nullable String parent, @Nullable List<Integer> tokens) {
    public Entry {
      requireNonNull(hash, "hash");
      requireNonNull(sha256, "sha256");
      require(hash.equals(BlockHash.parse(hash).toString()), "hash", "in lower case", hash);
      require(sha256.matches("[0-9a-f]{64}"), "sha256 of " + hash, "64 hex digits", sha256);
      require((parent == null) == (tokens == null), "parent and tokens of " + hash, "given together", "one of them");
      if (tokens != null && parent != null) {
        tokens = List.copyOf(tokens);
        BlockHash named = new PrefixHasher(List.of()).next(BlockHash.parse(parent),
            tokens.stream().mapToInt(Integer::intValue).toArray());
        require(named.toString().equals(hash), "hash", "that of its parent and tokens, " + named, hash);
      }
    }

    BlockHash blockHash() {
      return BlockHash.parse(hash);
    }
  }

  /// The space of the blocks. Its salt is secret and stays out of the manifest, and so does what follows from it.
  ///
  /// @param salted whether there is a salt
  public record Space(String model, String fingerprint, boolean salted, int layers, int tokens, String order,
      List<PlaneShape> planes, int group, int windowTokens, int stateTokens, List<Integer> groupLayers, int modelLayers,
      int firstLayer, int modelHeads, int firstHead) {
    static Space of(CacheSpace space) {
      BlockLayout layout = space.layout();
      CacheSpace.Group group = space.group();
      CacheSpace.Shard shard = space.shard();
      return new Space(space.model(), space.fingerprint(), !space.tenantSalt().isEmpty(), layout.layers(),
          layout.tokens(), layout.order().name(), layout.planes().stream().map(PlaneShape::of).toList(), group.number(),
          group.windowTokens(), group.stateTokens(), group.layers(), shard.layers(), shard.firstLayer(), shard.heads(),
          shard.firstHead());
    }

    CacheSpace with(String salt) {
      BlockLayout layout = new BlockLayout(layers, tokens, TokenOrder.valueOf(order),
          planes.stream().map(PlaneShape::plane).toList());
      return new CacheSpace(model, layout, new CacheSpace.Group(group, windowTokens, stateTokens, groupLayers), salt)
          .withShard(new CacheSpace.Shard(modelLayers, firstLayer, modelHeads, firstHead)).withFingerprint(fingerprint);
    }
  }

  /// See [Plane].
  public record PlaneShape(String kind, String type, int heads, int width) {
    static PlaneShape of(Plane plane) {
      return new PlaneShape(plane.kind().name(), plane.type().name(), plane.heads(), plane.width());
    }

    Plane plane() {
      return new Plane(Plane.Kind.valueOf(kind), Plane.ElementType.valueOf(type), heads, width);
    }
  }

  static SessionManifest of(String session, CacheSpace space, List<Entry> blocks) {
    return new SessionManifest(FORMAT, VERSION, session, Space.of(space), TENSORS, blocks);
  }

  /// Reads the manifest of a folder.
  ///
  /// @throws DataException if it is none
  static SessionManifest read(Path folder) throws IOException {
    Path file = folder.resolve(NAME);
    if (Files.size(file) > MOST_BYTES) {
      throw new DataException("%s must have at most %d bytes (was %d)".formatted(file, MOST_BYTES, Files.size(file)));
    }
    try {
      return STRICT.readValue(file.toFile(), SessionManifest.class);
    } catch (JacksonException e) {
      Throwable cause = e.getCause();
      throw new DataException(file + ": " + (cause instanceof IllegalArgumentException
          ? cause.getMessage()
          : e.getOriginalMessage()), e);
    }
  }

  /// The space of the blocks.
  ///
  /// @param salt of the tenant; empty for none
  /// @throws IllegalArgumentException if the space has a salt and none is given, or the other way round
  /// @throws DataException if there is no such space
  public CacheSpace cacheSpace(String salt) {
    if (space.salted == salt.isEmpty()) {
      throw new IllegalArgumentException(space.salted
          ? "--salt-file must be given for blocks of a space with a salt (was not)"
          : "--salt-file must be left out for blocks of a space without a salt (was given)");
    }
    try {
      return space.with(salt);
    } catch (IllegalArgumentException | ArithmeticException | NullPointerException e) {
      throw new DataException(NAME + ": space: " + e.getMessage(), e);
    }
  }
}
