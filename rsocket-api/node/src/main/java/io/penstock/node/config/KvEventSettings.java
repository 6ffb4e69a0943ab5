package io.penstock.node.config;

import io.penstock.block.CacheSpace;
import io.penstock.node.kvevents.HashForm;
import io.penstock.node.kvevents.KvEventsOptions;
import io.penstock.node.kvevents.KvLayout;
import io.penstock.node.kvevents.KvTokens;
import io.penstock.node.setting.AscendTypes;
import io.penstock.node.setting.PortChoice;
import io.penstock.node.setting.Setting;
import io.penstock.node.setting.SettingType;
import java.util.List;
import java.util.OptionalInt;

/// Settings of the KV events that routers for vLLM read.
public final class KvEventSettings {
  private static final KvEventsOptions DEFAULTS = KvEventsOptions.defaults();

  public static final Setting<String> HOST = new Setting<>("kv.events.host", SettingType.host(), DEFAULTS.host(),
      "Address at which KV events are published. Beyond this host only with --open-to-network.");
  public static final Setting<PortChoice> PORT = new Setting<>("kv.events.port", SettingType.portOrOff(), "off",
      "Port at which KV events are published over ZeroMQ, as vLLM does, or off; 5557 by convention. Of several spaces"
          + " each next one takes the port 2 above.");
  public static final Setting<PortChoice> REPLAY_PORT =
      new Setting<>("kv.events.replay.port", SettingType.portOrOff(), "off",
          "Port at which consumers ask for KV events that they missed, or off; 5558 by convention. Of several spaces"
              + " each next one takes the port 2 above.");
  public static final Setting<String> TOPIC = new Setting<>("kv.events.topic", SettingType.text(), DEFAULTS.topic(),
      "Topic of KV events; {space} and {model} stand for the names of space and model. Without them, each of several"
          + " spaces has @ and its name behind it.");
  public static final Setting<KvLayout> LAYOUT =
      new Setting<>("kv.events.layout", SettingType.oneOf(KvLayout.class), "map",
          "How KV events are packed: map as vLLM 0.26 and newer releases do, array as vLLM up to 0.23, map_batch as"
              + " development builds of vLLM whose batch is a map, too.");
  public static final Setting<HashForm> HASHES =
      new Setting<>("kv.events.hashes", SettingType.oneOf(HashForm.class), "int",
          "Block hashes in KV events: int is the low 64 bits, bytes all 16 bytes.");
  public static final Setting<Integer> STEPS = new Setting<>("kv.events.steps", SettingType.count(1, 1 << 20),
      String.valueOf(DEFAULTS.steps()), "Batches of KV events kept for replay.");
  public static final Setting<Integer> HIGH_WATER =
      new Setting<>("kv.events.high.water", SettingType.count(1, 1 << 24), String.valueOf(DEFAULTS.highWater()),
          "Batches of KV events that wait for one slow consumer; it misses further ones.");

  public static final Setting<Boolean> SALTED = new Setting<>("kv.events.salted", AscendTypes.flag(), "false",
      "Whether the KV events of spaces with a salt are published, too. Their readers learn which prompts a tenant"
          + " has.");

  public static final Setting<Integer> TOKENS = new Setting<>("kv.events.tokens", SettingType.count(0, 1 << 26), "0",
      "Maximum number of blocks of a space whose token ids are kept in memory and published in KV events, 0 for none. A"
          + " block takes 4 bytes a token and " + KvTokens.BLOCK_BYTES
          + " more. Readers of the port then see prompts.");

  /// Whose events a node publishes.
  public enum Whose {
    NODE, CLUSTER
  }

  public static final Setting<Whose> OF = new Setting<>("kv.events.of", SettingType.oneOf(Whose.class), "node",
      "Whose KV events are published: those of this node, or those of all members of its cluster as of one node, so"
          + " that a router needs one source. What only a dead member had is told as removed.");

  static final List<Setting<?>> ALL =
      List.of(HOST, PORT, REPLAY_PORT, TOPIC, LAYOUT, HASHES, STEPS, HIGH_WATER, SALTED, TOKENS, OF);

  private KvEventSettings() {}

  /// Options for one of several spaces: a stream of its own, with a topic and ports of its own.
  ///
  /// @param number of the space, from 0
  /// @param of number of spaces
  public static KvEventsOptions options(NodeConfig config, int number, int of, String name, CacheSpace space) {
    String stated = config.get(TOPIC);
    String named = stated.replace("{space}", name).replace("{model}", space.model());
    return options(config).ofSpace(number, of > 1 && !stated.contains("{") ? named + "@" + name : named);
  }

  /// Options of KV events in `config`; they are published unless [#PORT] is off.
  public static KvEventsOptions options(NodeConfig config) {
    PortChoice replay = config.get(REPLAY_PORT);
    return new KvEventsOptions(config.get(HOST), config.get(PORT).port(),
        replay.isOff() ? OptionalInt.empty() : OptionalInt.of(replay.port()), config.get(TOPIC), config.get(LAYOUT),
        config.get(HASHES), config.get(STEPS), config.get(HIGH_WATER), DEFAULTS.between(), config.get(TOKENS));
  }
}
