package io.penstock.block;

import io.penstock.check.Checks;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// Chains a parent hash and the tokens of a block into the hash of that block: equal hashes mean equal prefixes.
///
/// The hash is the first 16 bytes of SHA-256 over: `penstock.prefix.v1` in ASCII, the parent's 16 bytes
/// ([BlockHash#ROOT] for a first block), the number of tokens, the tokens, the number of extra keys, and each extra key
/// as length and UTF-8. Integers are 32-bit little-endian. Test vectors: `prefix-vectors.tsv` in this module's test
/// resources.
///
/// Immutable; safe from any thread.
public final class PrefixHasher {
  private final List<String> extraKeys;

  /// @param extraKeys other names that distinguish prefixes, for example of a LoRA, in a fixed order
  public PrefixHasher(List<String> extraKeys) {
    this.extraKeys = List.copyOf(extraKeys);
  }

  /// Hash of the block that holds `tokens` and follows the block hashed to `parent`.
  public BlockHash next(BlockHash parent, int[] tokens) {
    CanonicalDigest digest = new CanonicalDigest("penstock.prefix.v1").hash(parent).int32(tokens.length);
    for (int token : tokens) {
      digest.int32(token);
    }
    digest.int32(extraKeys.size());
    extraKeys.forEach(digest::text);
    return BlockHash.read(digest.first16());
  }

  /// Hashes of the whole blocks of `tokens`, each chained to the block before it. Tokens behind the last whole block
  /// count for none.
  ///
  /// @param blockTokens tokens a block
  public List<BlockHash> all(int[] tokens, int blockTokens) {
    Checks.positive("blockTokens", blockTokens);
    List<BlockHash> hashes = new ArrayList<>(tokens.length / blockTokens);
    BlockHash parent = BlockHash.ROOT;
    for (int end = blockTokens; end <= tokens.length; end += blockTokens) {
      parent = next(parent, Arrays.copyOfRange(tokens, end - blockTokens, end));
      hashes.add(parent);
    }
    return hashes;
  }

  /// Hash of an id of a trace, where an id names a block and all blocks before it: SHA-256 over `penstock.trace.v1` in
  /// ASCII and the id as 64-bit little-endian, first 16 bytes kept.
  public static BlockHash ofTraceId(long id) {
    return BlockHash.read(new CanonicalDigest("penstock.trace.v1").int64(id).first16());
  }

  /// Hash of the name of a value that is no KV cache: SHA-256 over `penstock.value.v1` in ASCII and the name as text,
  /// first 16 bytes kept.
  public static BlockHash ofName(String name) {
    return BlockHash.read(new CanonicalDigest("penstock.value.v1").text(name).first16());
  }

  /// Hash of part `index` of a value: SHA-256 over `penstock.part.v1` in ASCII, the hash of the value's name, the hash
  /// of the value's version, and the index, first 16 bytes kept.
  public static BlockHash ofPart(BlockHash name, BlockHash version, int index) {
    return BlockHash.read(new CanonicalDigest("penstock.part.v1").hash(name).hash(version).int32(index).first16());
  }
}
