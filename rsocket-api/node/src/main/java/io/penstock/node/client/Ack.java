package io.penstock.node.client;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.penstock.block.BlockKey;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.DataException;
import io.penstock.tier.Durability;
import io.penstock.tier.Receipt;
import java.util.Locale;

/// What a receipt promised: a line of the file that `load` writes.
///
/// @param key as `put` prints it
/// @param tier that promised it
/// @param durability volatile, written or forced
/// @param sequence of the event, in the life of that node
record Ack(String key, String tier, String durability, long sequence) {
  private static final ObjectMapper JSON = new ObjectMapper();

  Ack {
    requireNonNull(key, "key");
    requireNonNull(tier, "tier");
    requireNonNull(durability, "durability");
  }

  static Ack of(Receipt receipt) {
    return new Ack(receipt.key().toString(), receipt.tier(), receipt.durability().name().toLowerCase(Locale.ROOT), receipt.sequence());
  }

  /// Reads what [#line] wrote.
  ///
  /// @param place of the line, for the message
  static Ack read(String line, String place) {
    try {
      Ack ack = JSON.readValue(line, Ack.class);
      ack.blockKey();
      ack.promise();
      return ack;
    } catch (JsonProcessingException | IllegalArgumentException e) {
      throw new DataException(place + " must be an ack as load writes it (was " + (line.length() <= 80 ? line : line.substring(0, 79) + "…") + ")", e);
    }
  }

  String line() {
    return Console.toJson(this) + "\n";
  }

  BlockKey blockKey() {
    return BlockKey.parse(key);
  }

  Durability promise() {
    return Durability.valueOf(durability.toUpperCase(Locale.ROOT));
  }
}
