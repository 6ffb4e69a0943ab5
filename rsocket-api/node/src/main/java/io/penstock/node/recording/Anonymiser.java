package io.penstock.node.recording;

import static java.util.Objects.requireNonNullElse;

import io.penstock.block.BlockHash;
import io.penstock.block.BlockKey;
import io.penstock.block.CacheSpace;
import io.penstock.block.SpaceId;
import io.penstock.block.session.SessionId;
import io.penstock.block.session.SessionNumbers;
import io.penstock.block.session.SessionUse;
import io.penstock.node.play.Salt;
import io.penstock.node.text.Json;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.wire.protocol.Handshake;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/// Replaces what may tell whose recording it is: hashes of keys, spaces, models, peers, groups, paths, addresses, names
/// of tiers, values of the configuration, and the time of day. What happened, in which order and after how long, stays.
///
/// Equal things get equal replacements, so the copy plays as the recording does. One thread; events come in order.
final class Anonymiser implements UnaryOperator<RecordedEvent> {
  /// Keys whose hashes are kept, so that one is computed once.
  private static final int KNOWN = 1 << 20;
  /// Time of the first turn of the copy.
  private static final long FIRST = 1_000_000_000;
  private static final Set<String> LEVELS = Set.of("hbm", "dram", "ssd");
  private static final Set<String> PLAIN = Set.of("penstock", "java", "os");
  /// A setting of one space; others begin with `spaces.open`.
  private static final Pattern SPACE = Pattern.compile("spaces\\.(?!open\\.)([^.]+)\\.(.+)");
  private static final Pattern QUANTITY =
      Pattern.compile("(?i)-?[0-9][0-9.,_]* ?(b|[kmgt]i?b|blocks?|ns|us|ms|s|m|h|%)?"
          + "|true|false|on|off|none|unbounded|lru|lfu|arc|s3fifo|sieve|2q|fifo|tinylfu|wtinylfu");
  private static final Pattern TELLING = Pattern.compile("(?<key>\\b[0-9a-f]{32}:[0-9a-f]{32}\\b)"
      + "|(?<hash>\\b[0-9a-f]{32}\\b)"
      + "|(?<quoted>\"[^\"]*\")"
      + "|(?<path>(?<![\\w.])/[^\\s,;)\"']+)"
      + "|(?<mail>[\\w.+-]+@[\\w.-]+)"
      + "|(?<peer>\\b\\d{1,3}(?:\\.\\d{1,3}){3}(?::\\d{1,5})?\\b|\\[[0-9a-f:.%]+](?::\\d{1,5})?"
      + "|\\b[a-zA-Z][\\w.-]*:\\d{2,5}\\b)");

  private final Salt salt;
  private final Map<SpaceId, SpaceId> spaces = new HashMap<>();
  private final Map<BlockHash, BlockHash> hashes = new HashMap<>();
  private final Map<String, String> names = new HashMap<>();
  private long shift;
  private boolean began;

  Anonymiser(Salt salt) {
    this.salt = salt;
  }

  @Override
  public RecordedEvent apply(RecordedEvent event) {
    String text = text(event); // the words of a tier tell its space
    long[] numbers = WithoutPayloads.numbers(event);
    if (event.kind() == Kind.BEGAN && numbers.length > 0) {
      numbers[0] = 0;
    }
    return new RecordedEvent(event.kind(), event.begins(), at(event), event.tier(), event.flow(),
        sessions(event, numbers), keys(event.keys()), text);
  }

  /// The numbers of `event`; a session among them gets another name.
  private long[] sessions(RecordedEvent event, long[] numbers) {
    int before = switch (event.kind()) {
      case LEASE, SESSION -> 1;
      case RESERVE -> 3;
      default -> numbers.length;
    };
    SessionUse use = numbers.length > before ? SessionNumbers.read(event.size(), event::number, before) : null;
    return use == null
        ? numbers
        : SessionNumbers.behind(
            new SessionUse(SessionId.of("session-" + salt.word(use.session().toString())), use.priority(), use.keep()),
            Arrays.copyOf(numbers, before));
  }

  private long at(RecordedEvent event) {
    if (!event.begins() || event.kind() == Kind.BEGAN) {
      return event.at();
    }
    if (!began) {
      began = true;
      shift = FIRST - event.at();
    }
    return event.at() + shift;
  }

  private List<BlockKey> keys(List<BlockKey> keys) {
    if (keys.isEmpty()) {
      return keys;
    }
    ByteBuffer all = ByteBuffer.allocate(keys.size() * BlockHash.BYTES);
    keys.forEach(key -> hash(key.hash()).write(all));
    return BlockKey.list(space(keys.getFirst().space()), all.flip());
  }

  private BlockHash hash(BlockHash hash) {
    if (hashes.size() >= KNOWN) {
      hashes.clear();
    }
    return hashes.computeIfAbsent(hash, salt::hash);
  }

  private SpaceId space(SpaceId space) {
    return spaces.computeIfAbsent(space, salt::space);
  }

  private String text(RecordedEvent event) {
    String text = event.text();
    if (text.isEmpty()) {
      return text;
    }
    return switch (event.kind()) {
      case BEGAN -> json(text);
      case OPENED -> opened(event, text);
      case RESERVE -> "group-" + salt.word(text);
      case LINK -> "peer-" + salt.word(text);
      case REQUESTS -> "rank-" + salt.word(text);
      case REQUEST_OPEN, REQUEST_SIGNAL, REQUEST_MOVED, REQUEST_WITHDRAW, REQUEST_LOOK, REQUEST_FREED, REQUEST_ANSWER,
          REQUEST_RELEASED ->
        request(text);
      case FLOW_NEXT -> text.matches("[A-Z]\\w{0,63}") ? text : "element-" + salt.word(text);
      default -> scrubbed(text);
    };
  }

  /// A request, and behind line ends its receivers, as INSTANCE/NUMBER, or the instance of a receiver.
  private String request(String text) {
    String[] parts = text.split("\n", -1);
    StringBuilder named = new StringBuilder("request-").append(salt.word(parts[0]));
    for (int i = 1; i < parts.length; i++) {
      int slash = parts[i].lastIndexOf('/');
      named.append("\ninstance-").append(salt.word(slash < 0 ? parts[i] : parts[i].substring(0, slash)))
          .append(slash < 0 ? "" : parts[i].substring(slash));
    }
    return named.toString();
  }

  /// `text` without what may tell, in a way that does not depend on what stands around it.
  private String scrubbed(String text) {
    String plain = TELLING.matcher(text).replaceAll(found -> Matcher.quoteReplacement(replacement((Matcher) found)));
    for (Map.Entry<String, String> name : names.entrySet()) {
      plain = Pattern.compile("(?<![\\w.-])" + Pattern.quote(name.getKey()) + "(?![\\w.-])").matcher(plain)
          .replaceAll(Matcher.quoteReplacement(name.getValue()));
    }
    return plain;
  }

  private String replacement(Matcher found) {
    String text = found.group();
    if (found.group("key") != null) {
      BlockKey key = BlockKey.parse(text);
      return new BlockKey(space(key.space()), hash(key.hash())).toString();
    } else if (found.group("hash") != null) {
      return hash(BlockHash.parse(text)).toString();
    } else if (found.group("quoted") != null) {
      return "\"text-" + salt.word(text) + "\"";
    } else if (found.group("path") != null) {
      return "/path-" + salt.word(text);
    }
    return "peer-" + salt.word(text);
  }

  /// The words of a tier, or of whatever else was opened.
  private String opened(RecordedEvent event, String text) {
    JsonNode words;
    try {
      words = Json.MAPPER.readTree(text);
    } catch (JacksonException e) {
      return scrubbed(text);
    }
    if (!(words instanceof ObjectNode tier)) {
      return scrubbed(text);
    }
    String name = tier.path("name").asString("");
    if (!name.isEmpty() && !LEVELS.contains(name)) { // decisions name levels so, and it tells nothing
      names.put(name, "tier-" + event.tier());
      tier.put("name", "tier-" + event.tier());
    }
    JsonNode space = tier.path("space");
    if (space.isObject()) {
      tier.set("space", Json.MAPPER.valueToTree(space(Json.MAPPER.treeToValue(space, Handshake.Space.class),
          tier.path("standIn").asString(""))));
    }
    if (tier.path("room") instanceof ObjectNode room) {
      room.put("name", "space-" + salt.word(room.path("name").asString("")));
      room.path("parts").forEach(part -> {
        if (part instanceof ObjectNode named) {
          named.put("name", "space-" + salt.word(named.path("name").asString("")));
        }
      });
    }
    return Json.of(tier);
  }

  /// A space of equal shape with another name: its id follows from its words.
  ///
  /// @param standIn salt by which the recording names it; empty for none
  private Handshake.Space space(Handshake.Space space, String standIn) {
    String fingerprint = space.fingerprint();
    Handshake.Space plain = new Handshake.Space(space.id(), "model-" + salt.word(space.model()), space.layers(),
        space.tokens(), space.order(), space.planes(), space.group(), space.shard(), space.kind(),
        fingerprint == null ? null : salt.word(fingerprint));
    CacheSpace named = plain.with(standIn);
    spaces.put(space.with(standIn).id(), named.id());
    return Handshake.Space.of(named);
  }

  /// JSON with its words replaced, but those of versions and quantities.
  private String json(String text) {
    try {
      JsonNode document = Json.MAPPER.readTree(text);
      if (document instanceof ObjectNode fields) {
        fields.propertyNames().stream().filter(name -> !PLAIN.contains(name)).toList()
            .forEach(name -> fields.set(name, plain(fields.get(name))));
        return Json.of(fields);
      }
    } catch (JacksonException e) {
      // not JSON
    }
    return "{}";
  }

  private JsonNode plain(JsonNode value) {
    if (value instanceof ObjectNode fields) {
      ObjectNode plain = Json.MAPPER.createObjectNode();
      fields.forEachEntry((name, each) -> plain.set(word(name), plain(each)));
      return plain;
    } else if (value instanceof ArrayNode all) {
      ArrayNode plain = Json.MAPPER.createArrayNode();
      all.forEach(each -> plain.add(plain(each)));
      return plain;
    }
    return value.isString() ? Json.MAPPER.getNodeFactory().stringNode(value(value.asString())) : value;
  }

  /// A name of the configuration; one that a user chose, such as an address or the name of a space, is replaced.
  private String word(String name) {
    Matcher space = SPACE.matcher(name);
    if (space.matches()) {
      return "spaces.name-" + salt.word(space.group(1)) + "." + word(space.group(2));
    }
    return name.matches("[a-zA-Z][a-zA-Z0-9_-]{0,31}(\\.[a-zA-Z][a-zA-Z0-9_-]{0,31}){0,5}")
        ? name
        : "name-" + salt.word(name);
  }

  private String value(String value) {
    return QUANTITY.matcher(requireNonNullElse(value, "").strip()).matches() ? value : "value-" + salt.word(value);
  }
}
