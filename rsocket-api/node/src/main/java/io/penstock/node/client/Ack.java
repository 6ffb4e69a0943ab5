package io.penstock.node.client;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.node.cli.DataException;
import io.penstock.node.text.Json;
import io.penstock.tier.Receipt;
import java.util.Locale;
import tools.jackson.core.JacksonException;

/// Knowledge about a block: a line of the file that `load` writes.
///
/// @param key as `put` prints it
/// @param tier that promised it, or has it
/// @param durability volatile, written or forced, as the receipt said; or seen, where there was none
/// @param sequence of the event, in the life of that node; 0 if seen
record Ack(String key, String tier, String durability, long sequence) {
  Ack {
    requireNonNull(key, "key");
    requireNonNull(tier, "tier");
    requireNonNull(durability, "durability");
  }

  static Ack of(Receipt receipt) {
    return new Ack(receipt.key().toString(), receipt.tier(), Promise.of(receipt.durability()).word(),
        receipt.sequence());
  }

  /// Line for a block that was in `tier` before this command put it.
  static Ack seen(BlockKey key, String tier) {
    return new Ack(key.toString(), tier, Promise.SEEN.word(), 0);
  }

  /// Reads what [#line] wrote.
  ///
  /// @param place of the line, for the message
  static Ack read(String line, String place) {
    try {
      Ack ack = Json.MAPPER.readValue(line, Ack.class);
      ack.blockKey();
      ack.promise();
      return ack;
    } catch (JacksonException | IllegalArgumentException e) {
      throw new DataException(place + " must be a receipt as load writes it (was "
          + (line.length() <= 80 ? line : line.substring(0, 79) + "…") + ")", e);
    }
  }

  String line() {
    return Json.of(this) + "\n";
  }

  BlockKey blockKey() {
    return BlockKey.parse(key);
  }

  Promise promise() {
    return Promise.valueOf(durability.toUpperCase(Locale.ROOT));
  }
}
