package io.penstock.node.session;

import io.penstock.block.Block;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.node.cli.OwnerFile;
import io.penstock.node.text.Json;
import io.penstock.tier.TierHolds.BlockTokens;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Writes the blocks of a session into a folder. Until [#finish] the folder has no manifest, and an import refuses it.
/// Only the owner may read the files: they are a conversation.
public final class SessionWriter implements AutoCloseable {
  private final Path folder;
  private final String session;
  private final CacheSpace space;
  private final Map<BlockKey, BlockTokens> tokens;
  private final FileChannel tensors;
  private final int room;
  private final int most;
  private final BlockDigest digest = new BlockDigest();
  private final List<SessionManifest.Entry> entries = new ArrayList<>();

  private SessionWriter(Path folder, String session, CacheSpace space, int most, Map<BlockKey, BlockTokens> tokens)
      throws IOException {
    this.folder = folder;
    this.session = session;
    this.space = space;
    this.most = most;
    this.tokens = tokens;
    this.room = TensorHeader.room(most);
    this.tensors = OwnerFile.open(folder.resolve(SessionManifest.TENSORS)).position(room);
  }

  /// Begins a folder, which is empty.
  ///
  /// @param most blocks at most
  /// @param tokens of the blocks, as far as they are known
  public static SessionWriter begin(Path folder, String session, CacheSpace space, int most,
      Map<BlockKey, BlockTokens> tokens) throws IOException {
    return new SessionWriter(folder, session, space, most, tokens);
  }

  /// Appends a block.
  public void add(Block block) {
    if (entries.size() == most) {
      throw new IllegalStateException("blocks must be <= " + most + " (were more)");
    }
    BlockTokens known = tokens.get(block.key());
    String sha256 = block.read(memory -> {
      write(memory);
      return digest.of(memory);
    });
    entries.add(new SessionManifest.Entry(block.key().hash().toString(), sha256,
        known == null ? null : known.parent().toString(), ids(known)));
  }

  private static @Nullable List<Integer> ids(@Nullable BlockTokens known) {
    return known == null ? null : Arrays.stream(known.ids()).boxed().toList();
  }

  private void write(MemorySegment memory) {
    try {
      ByteBuffer bytes = memory.asByteBuffer();
      while (bytes.hasRemaining()) {
        tensors.write(bytes);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /// Number of blocks so far.
  public int blocks() {
    return entries.size();
  }

  /// Writes the header, then the manifest.
  public void finish() throws IOException {
    ByteBuffer header = new TensorHeader(space.layout())
        .bytes(entries.stream().map(SessionManifest.Entry::hash).toList(), room);
    while (header.hasRemaining()) {
      tensors.write(header, header.position());
    }
    tensors.force(true);
    Path draft = folder.resolve(SessionManifest.NAME + ".draft");
    OwnerFile.create(draft, Json.of(SessionManifest.of(session, space, entries)).getBytes(StandardCharsets.UTF_8));
    Files.move(draft, folder.resolve(SessionManifest.NAME));
  }

  @Override
  public void close() throws IOException {
    tensors.close();
  }
}
