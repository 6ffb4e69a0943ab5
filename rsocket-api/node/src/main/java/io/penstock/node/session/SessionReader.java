package io.penstock.node.session;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.BlockLayout;
import io.penstock.block.CacheSpace;
import io.penstock.block.GranuleRange;
import io.penstock.node.cli.DataException;
import io.penstock.node.content.BlockInput;
import io.penstock.tier.TierHolds.BlockTokens;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;
import tools.jackson.core.JacksonException;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/// Reads a folder that a [SessionWriter] wrote, or another party, who may be hostile: a [DataException] names what is
/// wrong. The header of the tensors must be the one that follows from the manifest. Bytes are compared with the digest
/// of their block each time they are read.
public final class SessionReader implements BlockInput {
  private static final JsonMapper STRICT = JsonMapper.builder().enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
      .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();

  private final Path file;
  private final SessionManifest manifest;
  private final CacheSpace space;
  private final FileChannel tensors;
  private final long dataAt;
  private final BlockDigest digest = new BlockDigest();
  private final Arena memory = Arena.ofConfined();
  private MemorySegment window = MemorySegment.NULL;
  private int next;

  private SessionReader(Path file, SessionManifest manifest, CacheSpace space, FileChannel tensors, long dataAt) {
    this.file = file;
    this.manifest = manifest;
    this.space = space;
    this.tensors = tensors;
    this.dataAt = dataAt;
  }

  /// Opens a folder, and checks all but the bytes of the blocks.
  ///
  /// @param salt of the tenant; empty for none
  /// @throws DataException if the folder is not as it must be
  /// @throws IllegalArgumentException if the salt is missing or needless
  public static SessionReader open(Path folder, String salt) throws IOException {
    SessionManifest manifest = SessionManifest.read(folder);
    CacheSpace space = manifest.cacheSpace(salt);
    Path file = folder.resolve(SessionManifest.TENSORS);
    FileChannel tensors = FileChannel.open(file, StandardOpenOption.READ);
    try {
      return new SessionReader(file, manifest, space, tensors, dataAt(file, tensors, manifest, space.layout()));
    } catch (IOException | RuntimeException e) {
      tensors.close();
      throw e;
    }
  }

  private static long dataAt(Path file, FileChannel tensors, SessionManifest manifest, BlockLayout layout)
      throws IOException {
    long size = tensors.size();
    if (size < TensorHeader.LENGTH_BYTES) {
      throw new DataException("%s must have at least %d bytes (was %d)".formatted(file, TensorHeader.LENGTH_BYTES,
          size));
    }
    ByteBuffer length = ByteBuffer.allocate(TensorHeader.LENGTH_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    read(file, tensors, 0, length);
    long header = length.getLong(0);
    long most = Math.min(TensorHeader.MOST_BYTES, size - TensorHeader.LENGTH_BYTES);
    if (header < 2 || header > most) {
      throw new DataException("%s: length of the header must be in [2, %d] (was %s)".formatted(file, most,
          Long.toUnsignedString(header)));
    }
    ByteBuffer json = ByteBuffer.allocate((int) header);
    read(file, tensors, TensorHeader.LENGTH_BYTES, json);
    requireHeader(file, json.array(), manifest, layout);
    long dataAt = TensorHeader.LENGTH_BYTES + header;
    long wanted = dataAt + (long) manifest.blocks().size() * layout.blockBytes();
    if (size != wanted) {
      throw new DataException("%s must have %d bytes, for %d blocks (was %d)".formatted(file, wanted,
          manifest.blocks().size(), size));
    }
    return dataAt;
  }

  private static void requireHeader(Path file, byte[] json, SessionManifest manifest, BlockLayout layout) {
    ObjectNode wanted =
        new TensorHeader(layout).json(manifest.blocks().stream().map(SessionManifest.Entry::hash).toList());
    JsonNode header;
    try {
      header = STRICT.readTree(json);
    } catch (JacksonException e) {
      throw new DataException(file + ": header must be JSON (was not: " + e.getOriginalMessage() + ")", e);
    }
    for (Map.Entry<String, JsonNode> tensor : wanted.properties()) {
      JsonNode was = header.path(tensor.getKey());
      if (!tensor.getKey().equals(TensorHeader.METADATA) && !tensor.getValue().toString().equals(was.toString())) {
        throw new DataException("%s: tensor %s must be %s (was %s)".formatted(file, tensor.getKey(), tensor.getValue(),
            was.isMissingNode() ? "missing" : brief(was)));
      }
    }
    for (Map.Entry<String, JsonNode> tensor : header.properties()) {
      if (!wanted.has(tensor.getKey())) {
        throw new DataException("%s: tensor must be a block of the manifest (was %s)".formatted(file,
            brief(tensor.getKey())));
      }
    }
  }

  private static String brief(Object value) {
    String text = value.toString();
    return text.length() <= 80 ? text : text.substring(0, 80) + "…";
  }

  private static void read(Path file, FileChannel from, long at, ByteBuffer to) throws IOException {
    while (to.hasRemaining()) {
      if (from.read(to, at + to.position()) < 0) {
        throw new DataException(file + " must not become shorter while it is read (did)");
      }
    }
  }

  public String session() {
    return manifest.session();
  }

  public CacheSpace space() {
    return space;
  }

  public int blocks() {
    return manifest.blocks().size();
  }

  /// Compares every block with its digest.
  ///
  /// @param done receives the number of blocks that are compared
  /// @throws DataException naming the first block that differs
  public void verify(IntConsumer done) throws IOException {
    try (Arena own = Arena.ofConfined()) {
      MemorySegment block = own.allocate(space.layout().blockBytes(), Long.BYTES);
      for (int number = 0; number < blocks(); number++) {
        load(number, block);
        done.accept(number + 1);
      }
    }
  }

  private void load(int number, MemorySegment to) throws IOException {
    SessionManifest.Entry entry = manifest.blocks().get(number);
    read(file, tensors, dataAt + (long) number * to.byteSize(), to.asByteBuffer());
    String was = digest.of(to);
    if (!was.equals(entry.sha256())) {
      throw new DataException("%s: bytes of block %s must have the SHA-256 %s (was %s)".formatted(file, entry.hash(),
          entry.sha256(), was));
    }
  }

  @Override
  public List<BlockKey> next(int most) throws IOException {
    if (window.byteSize() == 0) {
      window = memory.allocate((long) Math.min(most, Math.max(1, blocks())) * space.layout().blockBytes(), Long.BYTES);
    }
    List<BlockKey> keys = new ArrayList<>();
    for (; keys.size() < most && next < blocks(); next++) {
      load(next, at(keys.size()));
      keys.add(space.key(manifest.blocks().get(next).blockHash()));
    }
    return keys;
  }

  /// Token ids of the blocks that [#next] answered last; empty unless those of all are known.
  public Map<BlockKey, BlockTokens> tokens(List<BlockKey> keys) {
    Map<BlockKey, BlockTokens> tokens = new LinkedHashMap<>();
    for (int i = 0; i < keys.size(); i++) {
      SessionManifest.Entry entry = manifest.blocks().get(next - keys.size() + i);
      List<Integer> ids = entry.tokens();
      String parent = entry.parent();
      if (ids == null || parent == null || ids.size() != space.layout().tokens()) {
        return Map.of();
      }
      tokens.put(keys.get(i),
          new BlockTokens(BlockHash.parse(parent), ids.stream().mapToInt(Integer::intValue).toArray()));
    }
    return tokens;
  }

  private MemorySegment at(int index) {
    int bytes = space.layout().blockBytes();
    return window.asSlice((long) index * bytes, bytes);
  }

  @Override
  public void fill(int index, BlockDraft draft) {
    draft.write(GranuleRange.all(draft.layout()), to -> to.copyFrom(at(index)));
  }

  @Override
  public long paddingBytes() {
    return 0;
  }

  @Override
  public void close() throws IOException {
    memory.close();
    tensors.close();
  }
}
