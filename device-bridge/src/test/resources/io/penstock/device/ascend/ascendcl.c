// A double of libascendcl.so: host memory stands for the memory of devices, everything else keeps the contract of the driver.
//
// What it is strict about, because the driver is: contexts and devices belong to a thread, streams to a context (107002, 107003); a batch
// has at most 4,096 elements, one direction, true locations, and zeroed reserved bytes; copies of a batch are made in no order; copies of
// a stream are made when it is synchronised, not before.
//
// What a test tells it and asks it stands at the end, under names that begin with double_. CANN is the profile that it is built for: 82,
// 83 or 90. They differ in what is exported and in the code for a batch that is too long.

#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifndef CANN
#define CANN 90
#endif

#define EXPORT __attribute__((visibility("default")))

typedef int aclError;

enum {
  OK = 0, INVALID_PARAM = 100000, REPEAT_INITIALIZE = 100002, BAD_ALLOC = 200000, RT_PARAM_INVALID = 107000, RT_INVALID_DEVICE = 107001,
  RT_CONTEXT_NULL = 107002, RT_STREAM_CONTEXT = 107003, RT_INVALID_HANDLE = 107017, RT_NOT_SUPPORTED = 207000, RT_DEVICE_OOM = 207018,
  STREAM_SYNC_TIMEOUT = 507046
};
enum { LOC_HOST = 0, LOC_DEVICE = 1, LOC_UNREGISTERED = 2, LOC_HOST_NUMA = 4 };
enum { H2H = 0, H2D = 1, D2H = 2, D2D = 3, BY_ADDRESS = 4 };
enum { MAX_DEVICES = 64, MAX_BATCH = 4096, MAX_RULES = 256 };

typedef struct { uint32_t id; int type; } aclrtMemLocation;
#ifndef EXTRA_FIELD
#define EXTRA_FIELD // for a struct of another shape
#endif
typedef struct { aclrtMemLocation dstLoc, srcLoc; uint8_t rsv[16]; EXTRA_FIELD } aclrtMemcpyBatchAttr;
typedef struct { aclrtMemLocation location; uint32_t pageSize; uint32_t rsv[4]; } aclrtPtrAttributes;
typedef struct {
  int handleType, allocationType, memAttr;
  aclrtMemLocation location;
  uint64_t reserve;
} aclrtPhysicalMemProp;
typedef struct { uint8_t data[128]; } aclrtMemFabricHandle;
typedef struct { int flags; aclrtMemLocation location; uint8_t rsv[12]; } aclrtMemAccessDesc;

// --- the functions that are counted, scripted and recorded

#define FUNCTIONS(F) \
  F(aclInit) F(aclFinalize) F(aclrtSetDevice) F(aclrtGetDevice) F(aclrtResetDevice) F(aclrtGetDeviceCount) \
  F(aclrtGetLogicDevIdByUserDevId) F(aclrtGetPhyDevIdByLogicDevId) F(aclrtGetMemInfo) \
  F(aclrtCreateContext) F(aclrtDestroyContext) F(aclrtSetCurrentContext) F(aclrtGetCurrentContext) \
  F(aclrtCreateStream) F(aclrtCreateStreamWithConfig) F(aclrtDestroyStream) F(aclrtSynchronizeStream) \
  F(aclrtSynchronizeStreamWithTimeout) F(aclrtStreamAbort) \
  F(aclrtMalloc) F(aclrtFree) F(aclrtMallocHost) F(aclrtFreeHost) F(aclrtMemset) \
  F(aclrtMemcpy) F(aclrtMemcpyAsync) F(aclrtMemcpyBatch) F(aclrtPointerGetAttributes) \
  F(aclrtMallocPhysical) F(aclrtFreePhysical) F(aclrtReserveMemAddress) F(aclrtReleaseMemAddress) F(aclrtMapMem) F(aclrtUnmapMem) \
  F(aclrtMemGetAllocationGranularity) F(aclrtMemExportToShareableHandleV2) F(aclrtMemImportFromShareableHandleV2) F(aclrtMemSetAccess) \
  F(aclrtIpcMemGetExportKey) F(aclrtIpcMemImportByKey) F(aclrtIpcMemClose)

#define NUMBER(name) F_##name,
#define NAME(name) #name,
typedef enum { FUNCTIONS(NUMBER) FUNCTION_COUNT } Function;
static const char* const NAMES[] = { FUNCTIONS(NAME) };

// --- state

typedef struct Context { uint64_t magic; int32_t device; bool isDefault; int streams; } Context;
typedef struct Copy { void* to; const void* from; size_t bytes; } Copy;
typedef struct Stream { uint64_t magic; Context* context; bool aborted; Copy* copies; size_t count, room; } Stream;
typedef struct Physical { uint64_t magic; int fd; size_t bytes; aclrtPhysicalMemProp prop; int maps; } Physical;
/// `fd` is the memory behind it, by which another process gets at it, or -1; `kept` is an address range, whose memory is `memory` while it is
/// mapped; `exported` says that a key was given out and not closed, so that it must not be freed.
typedef struct Region {
  uintptr_t from;
  size_t bytes;
  int type;
  int32_t device;
  size_t mapped;
  int fd;
  bool kept;
  char key[65];
  Physical* memory;
  bool exported;
} Region;
typedef struct Rule { Function function; int64_t nth, left; aclError code; int64_t failIndex; } Rule;

/// What a test reads of a call; 40 bytes.
typedef struct Call { int32_t function, code, device, direction; uint64_t thread, elements, bytes; } Call;

static const uint64_t CONTEXT = 0xC0417E87, STREAM = 0x57AEA317, PHYSICAL = 0x9415CA10;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t letGo = PTHREAD_COND_INITIALIZER;
static int deviceCount = 1;
static size_t deviceBytes = (size_t)4 << 30, allocated[MAX_DEVICES];
static Context* defaults[MAX_DEVICES];
static Region* regions;
static size_t regionCount, regionRoom;
static Rule rules[MAX_RULES];
static int ruleCount;
static int64_t calls[FUNCTION_COUNT], latencyNanos[FUNCTION_COUNT];
static int64_t copiedBy[3]; // elements: sync, async, batch
static int64_t strangers; // sides of elements of batches and streams that no region has
static int liveContexts, liveStreams, livePhysicals, initialised;
static bool recording = true, batchUnsupported[MAX_DEVICES], held[FUNCTION_COUNT];
static size_t largestAllocation = SIZE_MAX, hugePagesUpTo = SIZE_MAX, numaPagesUpTo = SIZE_MAX;
static Call* log_;
static size_t logged, logRoom;

static _Thread_local int32_t currentDevice = -1;
static _Thread_local Context* currentContext;
static _Thread_local char recentMessage[256];
static _Thread_local bool hasMessage;

static aclError fail(aclError code, const char* why) {
  snprintf(recentMessage, sizeof recentMessage, "%s", why);
  hasMessage = true;
  return code;
}

/// Counts a call; answers what the script wants instead of the work, or OK. `failIndex` may be NULL. Under no lock.
static aclError enter(Function function, int64_t* failIndex) {
  int64_t nanos;
  aclError code = OK;
  pthread_mutex_lock(&lock);
  int64_t number = ++calls[function];
  while (held[function]) pthread_cond_wait(&letGo, &lock);
  nanos = latencyNanos[function];
  for (int i = 0; i < ruleCount; i++) {
    Rule* rule = &rules[i];
    if (rule->function == function && rule->left > 0 && number >= rule->nth) {
      rule->left--;
      code = rule->code;
      if (failIndex) *failIndex = rule->failIndex;
      break;
    }
  }
  pthread_mutex_unlock(&lock);
  if (nanos > 0) {
    struct timespec time = { nanos / 1000000000, nanos % 1000000000 };
    nanosleep(&time, NULL);
  }
  return code == OK ? OK : fail(code, "scripted");
}

static void record(Function function, aclError code, int direction, uint64_t elements, uint64_t bytes) {
  if (!recording) return;
  pthread_mutex_lock(&lock);
  if (logged == logRoom) {
    logRoom = logRoom ? 2 * logRoom : 1024;
    log_ = realloc(log_, logRoom * sizeof *log_);
  }
  log_[logged++] = (Call){ function, code, currentDevice, direction, (uint64_t)gettid(), elements, bytes };
  pthread_mutex_unlock(&lock);
}

#define BEGIN(function) \
  do { aclError scripted = enter(F_##function, NULL); \
    if (scripted) { record(F_##function, scripted, -1, 0, 0); return scripted; } } while (0)
#define END(function, code) \
  do { aclError result = (code); record(F_##function, result, -1, 0, 0); return result; } while (0)

// --- regions, sorted by address; under the lock

static size_t place(uintptr_t address) {
  size_t low = 0, high = regionCount;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (regions[middle].from <= address) low = middle + 1; else high = middle;
  }
  return low;
}

static Region* find(const void* pointer) {
  uintptr_t address = (uintptr_t)pointer;
  size_t after = place(address);
  if (after == 0) return NULL;
  Region* region = &regions[after - 1];
  return address - region->from < region->bytes ? region : NULL;
}

static Region* insert(Region region) {
  if (regionCount == regionRoom) {
    regionRoom = regionRoom ? 2 * regionRoom : 64;
    regions = realloc(regions, regionRoom * sizeof *regions);
  }
  size_t at = place(region.from);
  memmove(&regions[at + 1], &regions[at], (regionCount - at) * sizeof *regions);
  regions[at] = region;
  regionCount++;
  return &regions[at];
}

static void removeRegion(Region* region) {
  size_t at = (size_t)(region - regions);
  memmove(&regions[at], &regions[at + 1], (regionCount - at - 1) * sizeof *regions);
  regionCount--;
}

static int typeOf(const void* pointer, uint32_t* device) {
  Region* region = find(pointer);
  *device = region && region->type == LOC_DEVICE ? (uint32_t)region->device : 0;
  return region ? region->type : LOC_UNREGISTERED;
}

/// Whether [pointer, + bytes) lies in one region, or in none as memory that was never told to the driver.
static bool inside(const void* pointer, size_t bytes) {
  Region* region = find(pointer);
  return !region || bytes <= region->bytes - ((uintptr_t)pointer - region->from);
}

static int seen(int type) {
  return type == LOC_DEVICE ? LOC_DEVICE : LOC_HOST;
}

// --- library, devices, contexts

EXPORT aclError aclInit(const char* config) {
  (void)config;
  BEGIN(aclInit);
  pthread_mutex_lock(&lock);
  aclError code = initialised ? REPEAT_INITIALIZE : OK;
  initialised = 1;
  pthread_mutex_unlock(&lock);
  END(aclInit, code);
}

EXPORT aclError aclFinalize(void) {
  BEGIN(aclFinalize);
  pthread_mutex_lock(&lock);
  aclError code = !initialised ? fail(INVALID_PARAM, "not initialised")
      : liveStreams > 0 ? fail(RT_PARAM_INVALID, "streams are left") : liveContexts > 0 ? fail(RT_PARAM_INVALID, "contexts are left") : OK;
  if (code == OK) initialised = 0;
  pthread_mutex_unlock(&lock);
  END(aclFinalize, code);
}

EXPORT const char* aclGetRecentErrMsg(void) {
  if (!hasMessage) return NULL;
  hasMessage = false;
  return recentMessage;
}

EXPORT const char* aclrtGetSocName(void) {
  return "Ascend910B-double";
}

EXPORT aclError aclrtGetDeviceCount(uint32_t* count) {
  BEGIN(aclrtGetDeviceCount);
  *count = (uint32_t)deviceCount;
  END(aclrtGetDeviceCount, OK);
}

static bool isDevice(int32_t device) {
  return device >= 0 && device < deviceCount;
}

static Context* newContext(int32_t device, bool isDefault) {
  Context* context = calloc(1, sizeof *context);
  *context = (Context){ CONTEXT, device, isDefault, 0 };
  return context;
}

EXPORT aclError aclrtSetDevice(int32_t device) {
  BEGIN(aclrtSetDevice);
  if (!isDevice(device)) END(aclrtSetDevice, fail(RT_INVALID_DEVICE, "no such device"));
  pthread_mutex_lock(&lock);
  if (!defaults[device]) defaults[device] = newContext(device, true);
  currentDevice = device;
  currentContext = defaults[device];
  pthread_mutex_unlock(&lock);
  END(aclrtSetDevice, OK);
}

EXPORT aclError aclrtResetDevice(int32_t device) {
  BEGIN(aclrtResetDevice);
  if (!isDevice(device)) END(aclrtResetDevice, fail(RT_INVALID_DEVICE, "no such device"));
  END(aclrtResetDevice, OK);
}

EXPORT aclError aclrtGetDevice(int32_t* device) {
  BEGIN(aclrtGetDevice);
  if (currentDevice < 0) END(aclrtGetDevice, fail(RT_CONTEXT_NULL, "no device set on this thread"));
  *device = currentDevice;
  END(aclrtGetDevice, OK);
}

/// ASCEND_RT_VISIBLE_DEVICES: a list of physical ids by logical id; all of them without it.
static int32_t physicalId(int32_t logical) {
  const char* visible = getenv("ASCEND_RT_VISIBLE_DEVICES");
  if (!visible || !*visible) return logical;
  char* end;
  for (int32_t i = 0; ; i++) {
    long id = strtol(visible, &end, 10);
    if (end == visible) return -1;
    if (i == logical) return (int32_t)id;
    if (*end != ',') return -1;
    visible = end + 1;
  }
}

EXPORT aclError aclrtGetLogicDevIdByUserDevId(int32_t user, int32_t* logical) {
  BEGIN(aclrtGetLogicDevIdByUserDevId);
  if (!isDevice(user)) END(aclrtGetLogicDevIdByUserDevId, fail(RT_INVALID_DEVICE, "no such device"));
  *logical = user;
  END(aclrtGetLogicDevIdByUserDevId, OK);
}

EXPORT aclError aclrtGetPhyDevIdByLogicDevId(int32_t logical, int32_t* physical) {
  BEGIN(aclrtGetPhyDevIdByLogicDevId);
  if (!isDevice(logical) || physicalId(logical) < 0) END(aclrtGetPhyDevIdByLogicDevId, fail(RT_INVALID_DEVICE, "no such device"));
  *physical = physicalId(logical);
  END(aclrtGetPhyDevIdByLogicDevId, OK);
}

EXPORT aclError aclrtGetMemInfo(int attribute, size_t* free, size_t* total) {
  (void)attribute;
  BEGIN(aclrtGetMemInfo);
  if (!currentContext) END(aclrtGetMemInfo, fail(RT_CONTEXT_NULL, "no context"));
  pthread_mutex_lock(&lock);
  *total = deviceBytes;
  *free = deviceBytes - allocated[currentContext->device];
  pthread_mutex_unlock(&lock);
  END(aclrtGetMemInfo, OK);
}

EXPORT aclError aclrtCreateContext(void** context, int32_t device) {
  BEGIN(aclrtCreateContext);
  if (!isDevice(device)) END(aclrtCreateContext, fail(RT_INVALID_DEVICE, "no such device"));
  Context* made = newContext(device, false);
  pthread_mutex_lock(&lock);
  liveContexts++;
  pthread_mutex_unlock(&lock);
  currentDevice = device; // as the driver does: the new context is the thread's
  currentContext = made;
  *context = made;
  END(aclrtCreateContext, OK);
}

EXPORT aclError aclrtDestroyContext(void* context) {
  BEGIN(aclrtDestroyContext);
  Context* old = context;
  if (!old || old->magic != CONTEXT || old->isDefault) END(aclrtDestroyContext, fail(RT_INVALID_HANDLE, "no context"));
  pthread_mutex_lock(&lock);
  aclError code = old->streams > 0 ? fail(RT_STREAM_CONTEXT, "streams of the context are left") : OK;
  if (code == OK) {
    liveContexts--;
    old->magic = 0;
    if (currentContext == old) currentContext = NULL;
    // not freed: a handle that is used after its end must be found out, not crash
  }
  pthread_mutex_unlock(&lock);
  END(aclrtDestroyContext, code);
}

EXPORT aclError aclrtSetCurrentContext(void* context) {
  BEGIN(aclrtSetCurrentContext);
  Context* wanted = context;
  if (wanted && wanted->magic != CONTEXT) END(aclrtSetCurrentContext, fail(RT_INVALID_HANDLE, "context was destroyed"));
  currentContext = wanted;
  currentDevice = wanted ? wanted->device : -1;
  END(aclrtSetCurrentContext, OK);
}

EXPORT aclError aclrtGetCurrentContext(void** context) {
  BEGIN(aclrtGetCurrentContext);
  if (!currentContext) END(aclrtGetCurrentContext, fail(RT_CONTEXT_NULL, "no context"));
  *context = currentContext;
  END(aclrtGetCurrentContext, OK);
}

// --- streams

static aclError createStream(void** stream) {
  if (!currentContext || currentContext->magic != CONTEXT) return fail(RT_CONTEXT_NULL, "no context");
  Stream* made = calloc(1, sizeof *made);
  made->magic = STREAM;
  made->context = currentContext;
  pthread_mutex_lock(&lock);
  liveStreams++;
  currentContext->streams++;
  pthread_mutex_unlock(&lock);
  *stream = made;
  return OK;
}

EXPORT aclError aclrtCreateStream(void** stream) {
  BEGIN(aclrtCreateStream);
  END(aclrtCreateStream, createStream(stream));
}

EXPORT aclError aclrtCreateStreamWithConfig(void** stream, uint32_t priority, uint32_t flags) {
  BEGIN(aclrtCreateStreamWithConfig);
  if (priority > 7 || flags > 0x3f) END(aclrtCreateStreamWithConfig, fail(INVALID_PARAM, "priority or flags"));
  END(aclrtCreateStreamWithConfig, createStream(stream));
}

/// A stream is usable only in its own context.
static aclError usable(Stream* stream) {
  if (!stream || stream->magic != STREAM) return fail(RT_INVALID_HANDLE, "no stream");
  if (!currentContext) return fail(RT_CONTEXT_NULL, "no context");
  return stream->context == currentContext ? OK : fail(RT_STREAM_CONTEXT, "stream is of another context");
}

EXPORT aclError aclrtDestroyStream(void* handle) {
  BEGIN(aclrtDestroyStream);
  Stream* stream = handle;
  aclError code = usable(stream);
  if (code == OK) {
    pthread_mutex_lock(&lock);
    liveStreams--;
    stream->context->streams--;
    pthread_mutex_unlock(&lock);
    stream->magic = 0;
    free(stream->copies);
    stream->copies = NULL;
  }
  END(aclrtDestroyStream, code);
}

static aclError finish(Stream* stream) {
  aclError code = usable(stream);
  if (code != OK) return code;
  for (size_t i = 0; i < stream->count; i++) {
    memcpy(stream->copies[i].to, stream->copies[i].from, stream->copies[i].bytes);
  }
  pthread_mutex_lock(&lock);
  copiedBy[1] += (int64_t)stream->count;
  pthread_mutex_unlock(&lock);
  stream->count = 0;
  return OK;
}

EXPORT aclError aclrtSynchronizeStream(void* stream) {
  BEGIN(aclrtSynchronizeStream);
  END(aclrtSynchronizeStream, finish(stream));
}

EXPORT aclError aclrtSynchronizeStreamWithTimeout(void* stream, int32_t millis) {
  BEGIN(aclrtSynchronizeStreamWithTimeout);
  if (millis < -1) END(aclrtSynchronizeStreamWithTimeout, fail(INVALID_PARAM, "timeout"));
  END(aclrtSynchronizeStreamWithTimeout, finish(stream));
}

EXPORT aclError aclrtStreamAbort(void* handle) {
  BEGIN(aclrtStreamAbort);
  Stream* stream = handle;
  aclError code = usable(stream);
  if (code == OK) stream->count = 0; // what was not copied yet never is
  END(aclrtStreamAbort, code);
}

// --- memory

static aclError allocate(void** pointer, size_t bytes, int type) {
  if (!pointer || bytes == 0) return fail(INVALID_PARAM, "size");
  if (!currentContext) return fail(RT_CONTEXT_NULL, "no context");
  int32_t device = currentContext->device;
  pthread_mutex_lock(&lock);
  bool full = bytes > largestAllocation || (type == LOC_DEVICE && bytes > deviceBytes - allocated[device]);
  pthread_mutex_unlock(&lock);
  if (full) return fail(type == LOC_DEVICE ? RT_DEVICE_OOM : BAD_ALLOC, "no memory left");
  size_t page = (size_t)sysconf(_SC_PAGESIZE), mapped = (bytes + page - 1) / page * page;
  int fd = memfd_create("acl", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, (off_t)mapped) != 0) return fail(BAD_ALLOC, "memfd");
  void* memory = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    close(fd);
    return fail(BAD_ALLOC, "mmap");
  }
  pthread_mutex_lock(&lock);
  if (type == LOC_DEVICE) allocated[device] += bytes;
  insert((Region){ (uintptr_t)memory, bytes, type, device, mapped, fd, false, "", NULL, false });
  pthread_mutex_unlock(&lock);
  *pointer = memory;
  return OK;
}

static aclError release(void* pointer, int type) {
  pthread_mutex_lock(&lock);
  Region* region = find(pointer);
  bool known = region && region->from == (uintptr_t)pointer && region->type == type && !region->kept && !region->key[0]
      && !region->exported;
  Region old = known ? *region : (Region){ 0 };
  if (known) {
    if (type == LOC_DEVICE) allocated[old.device] -= old.bytes;
    removeRegion(region);
  }
  pthread_mutex_unlock(&lock);
  if (!known) return fail(RT_PARAM_INVALID, "pointer was not allocated so");
  munmap(pointer, old.mapped);
  close(old.fd);
  return OK;
}

EXPORT aclError aclrtMalloc(void** pointer, size_t bytes, int policy) {
  BEGIN(aclrtMalloc);
  aclError code = policy < 0 || policy > 7 ? fail(INVALID_PARAM, "policy") : allocate(pointer, bytes, LOC_DEVICE);
  record(F_aclrtMalloc, code, policy, 1, bytes);
  return code;
}

EXPORT aclError aclrtFree(void* pointer) {
  BEGIN(aclrtFree);
  END(aclrtFree, release(pointer, LOC_DEVICE));
}

EXPORT aclError aclrtMallocHost(void** pointer, size_t bytes) {
  BEGIN(aclrtMallocHost);
  aclError code = allocate(pointer, bytes, LOC_HOST);
  record(F_aclrtMallocHost, code, -1, 1, bytes);
  return code;
}

EXPORT aclError aclrtFreeHost(void* pointer) {
  BEGIN(aclrtFreeHost);
  END(aclrtFreeHost, release(pointer, LOC_HOST));
}

EXPORT aclError aclrtPointerGetAttributes(const void* pointer, aclrtPtrAttributes* attributes) {
  BEGIN(aclrtPointerGetAttributes);
  memset(attributes, 0, sizeof *attributes);
  pthread_mutex_lock(&lock);
  attributes->location.type = typeOf(pointer, &attributes->location.id);
  pthread_mutex_unlock(&lock);
#if CANN < 83
  if (attributes->location.type == LOC_UNREGISTERED) attributes->location.type = LOC_HOST;
#endif
  attributes->pageSize = (uint32_t)sysconf(_SC_PAGESIZE);
  END(aclrtPointerGetAttributes, OK);
}

// --- copies

EXPORT aclError aclrtMemset(void* pointer, size_t most, int32_t value, size_t bytes) {
  BEGIN(aclrtMemset);
  if (bytes > most) END(aclrtMemset, fail(INVALID_PARAM, "count is more than maxCount"));
  memset(pointer, value, bytes);
  END(aclrtMemset, OK);
}

/// Whether `kind` is what the addresses say.
static aclError checkKind(const void* to, const void* from, size_t bytes, int kind) {
  uint32_t device;
  pthread_mutex_lock(&lock);
  int real = (seen(typeOf(from, &device)) == LOC_DEVICE ? 2 : 0) + (seen(typeOf(to, &device)) == LOC_DEVICE ? 1 : 0);
  bool fits = inside(to, bytes) && inside(from, bytes);
  strangers += !find(to) + !find(from);
  pthread_mutex_unlock(&lock);
  if (!fits) return fail(RT_PARAM_INVALID, "copy leaves its region");
  if (kind < H2H || kind > BY_ADDRESS) return fail(INVALID_PARAM, "kind");
  return kind == BY_ADDRESS || kind == real ? OK : fail(RT_PARAM_INVALID, "kind differs from the addresses");
}

EXPORT aclError aclrtMemcpy(void* to, size_t most, const void* from, size_t bytes, int kind) {
  aclError code = enter(F_aclrtMemcpy, NULL);
  if (code == OK && !currentContext) code = fail(RT_CONTEXT_NULL, "no context");
  if (code == OK && bytes > most) code = fail(INVALID_PARAM, "count is more than destMax");
  if (code == OK) code = checkKind(to, from, bytes, kind);
  if (code == OK) {
    memcpy(to, from, bytes);
    pthread_mutex_lock(&lock);
    copiedBy[0]++;
    pthread_mutex_unlock(&lock);
  }
  record(F_aclrtMemcpy, code, kind, 1, bytes);
  return code;
}

EXPORT aclError aclrtMemcpyAsync(void* to, size_t most, const void* from, size_t bytes, int kind, void* handle) {
  Stream* stream = handle;
  aclError code = enter(F_aclrtMemcpyAsync, NULL);
  if (code == OK) code = usable(stream);
  if (code == OK && bytes > most) code = fail(INVALID_PARAM, "count is more than destMax");
  if (code == OK) code = checkKind(to, from, bytes, kind);
  if (code == OK) {
    if (stream->count == stream->room) {
      stream->room = stream->room ? 2 * stream->room : 64;
      stream->copies = realloc(stream->copies, stream->room * sizeof *stream->copies);
    }
    stream->copies[stream->count++] = (Copy){ to, from, bytes };
  }
  record(F_aclrtMemcpyAsync, code, kind, 1, bytes);
  return code;
}

/// Element `i` against what was declared for it; under the lock.
static bool isDeclared(const aclrtMemLocation* declared, const void* pointer, size_t bytes, int32_t device) {
  uint32_t id;
  int found = typeOf(pointer, &id), type = seen(found);
  strangers += found == LOC_UNREGISTERED;
  int said = declared->type == LOC_HOST_NUMA ? LOC_HOST : declared->type;
  if (said != type || !inside(pointer, bytes)) return false;
  return type != LOC_DEVICE || (id == declared->id && (int32_t)id == device);
}

static aclError checkBatch(void** to, const size_t* most, void** from, const size_t* sizes, size_t count, const aclrtMemcpyBatchAttr* attrs,
    const size_t* indexes, size_t attrCount, size_t* failIndex) {
  for (size_t i = 0; i < count; i++) {
    if (most[i] < sizes[i]) return fail(INVALID_PARAM, "destMax is less than size");
  }
  for (size_t i = 0; i < attrCount; i++) {
    for (int b = 0; b < 16; b++) {
      if (attrs[i].rsv[b]) return fail(INVALID_PARAM, "reserved bytes must be 0");
    }
  }
  *failIndex = SIZE_MAX;
  if (attrCount == 0 || attrCount > count || indexes[0] != 0) return fail(RT_PARAM_INVALID, "attrs");
  for (size_t i = 1; i < attrCount; i++) {
    if (indexes[i] <= indexes[i - 1] || indexes[i] >= count) return fail(RT_PARAM_INVALID, "attrsIndexes must rise");
  }
  if (count > MAX_BATCH) {
#if CANN < 90
    return fail(RT_NOT_SUPPORTED, "too many copies");
#else
    return fail(RT_PARAM_INVALID, "too many copies");
#endif
  }
  aclError code = OK;
  int direction = -1;
  size_t attr = 0;
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < count && code == OK; i++) {
    while (attr + 1 < attrCount && indexes[attr + 1] <= i) attr++;
    const aclrtMemcpyBatchAttr* declared = &attrs[attr];
    int way = declared->dstLoc.type == LOC_DEVICE ? H2D : D2H;
    bool good = isDeclared(&declared->dstLoc, to[i], sizes[i], currentContext->device)
        && isDeclared(&declared->srcLoc, from[i], sizes[i], currentContext->device)
        && (declared->dstLoc.type == LOC_DEVICE) != (declared->srcLoc.type == LOC_DEVICE) && (direction < 0 || direction == way);
    direction = way;
    if (!good) {
      *failIndex = i;
      code = RT_PARAM_INVALID;
    }
  }
  pthread_mutex_unlock(&lock);
  return code == OK ? OK : fail(code, "an element is not where it was said to be");
}

EXPORT aclError aclrtMemcpyBatch(void** to, size_t* most, void** from, size_t* sizes, size_t count, aclrtMemcpyBatchAttr* attrs,
    size_t* indexes, size_t attrCount, size_t* failIndex) {
  int64_t scripted = -1;
  aclError code = enter(F_aclrtMemcpyBatch, &scripted);
  int direction = -1;
  uint64_t bytes = 0;
  if (code != OK) {
    if (failIndex) *failIndex = scripted < 0 ? SIZE_MAX : (size_t)scripted;
  } else if (!failIndex || !sizes || count == 0) {
    code = fail(INVALID_PARAM, "failIndex, sizes or count");
  } else if (!currentContext) {
    code = fail(RT_CONTEXT_NULL, "no context");
  } else if (batchUnsupported[currentContext->device]) {
    *failIndex = SIZE_MAX;
    code = fail(RT_NOT_SUPPORTED, "not on this machine");
  } else {
    for (size_t i = 0; i < count; i++) bytes += sizes[i];
    if (bytes == 0) {
      *failIndex = SIZE_MAX;
    } else {
      code = checkBatch(to, most, from, sizes, count, attrs, indexes, attrCount, failIndex);
      if (code == OK) {
        direction = attrs[0].dstLoc.type == LOC_DEVICE ? H2D : D2H;
        // not in the order of asking; but not backwards, which memory is an eighth slower at
        for (size_t i = count / 2; i < count; i++) memcpy(to[i], from[i], sizes[i]);
        for (size_t i = 0; i < count / 2; i++) memcpy(to[i], from[i], sizes[i]);
        __atomic_fetch_add(&copiedBy[2], (int64_t)count, __ATOMIC_RELAXED);
      }
    }
  }
  record(F_aclrtMemcpyBatch, code, direction, count, bytes);
  return code;
}

// --- physical memory, address ranges, handles for other processes

/// How far each step of the allocation ladder gets.
static bool hasPages(const aclrtPhysicalMemProp* prop, size_t bytes) {
  if (prop->location.type == LOC_HOST_NUMA) return prop->location.id % 2 == 0 && bytes <= numaPagesUpTo;
  bool gigantic = prop->memAttr == 10 || prop->memAttr == 11 || prop->memAttr == 14 || prop->memAttr == 17;
  return !gigantic || bytes <= hugePagesUpTo;
}

/// Memory of a device for `bytes`, if it has as much.
static bool take(int32_t device, size_t bytes) {
  pthread_mutex_lock(&lock);
  bool fits = bytes <= deviceBytes - allocated[device];
  if (fits) allocated[device] += bytes;
  pthread_mutex_unlock(&lock);
  return fits;
}

static Physical* newPhysical(int fd, size_t bytes, aclrtPhysicalMemProp prop) {
  Physical* made = calloc(1, sizeof *made);
  *made = (Physical){ PHYSICAL, fd, bytes, prop, 0 };
  __atomic_fetch_add(&livePhysicals, 1, __ATOMIC_RELAXED);
  return made;
}

EXPORT aclError aclrtMallocPhysical(void** handle, size_t bytes, const aclrtPhysicalMemProp* prop, uint64_t flags) {
  BEGIN(aclrtMallocPhysical);
  aclError code = OK;
  int type = prop->location.type;
  if (flags != 0 || prop->handleType != 0 || bytes == 0 || (type != LOC_HOST && type != LOC_DEVICE && type != LOC_HOST_NUMA)) {
    code = fail(INVALID_PARAM, "flags, handleType, size or location");
  } else if (bytes > largestAllocation || !hasPages(prop, bytes)) {
    code = fail(BAD_ALLOC, "no pages of that kind");
  } else if (type == LOC_DEVICE && !take((int32_t)prop->location.id, bytes)) {
    code = fail(RT_DEVICE_OOM, "no memory left");
  } else {
    int fd = memfd_create("acl", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0) code = fail(BAD_ALLOC, "memfd");
    else *handle = newPhysical(fd, bytes, *prop);
  }
  record(F_aclrtMallocPhysical, code, prop->memAttr, (uint64_t)type, bytes);
  return code;
}

static aclError physical(void* handle) {
  Physical* known = handle;
  return known && known->magic == PHYSICAL ? OK : fail(RT_INVALID_HANDLE, "no physical memory");
}

EXPORT aclError aclrtFreePhysical(void* handle) {
  BEGIN(aclrtFreePhysical);
  aclError code = physical(handle);
  Physical* old = handle;
  if (code == OK && old->maps > 0) code = fail(RT_PARAM_INVALID, "still mapped");
  if (code == OK) {
    close(old->fd);
    old->magic = 0;
    if (old->prop.location.type == LOC_DEVICE) __atomic_fetch_sub(&allocated[old->prop.location.id], old->bytes, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&livePhysicals, 1, __ATOMIC_RELAXED);
  }
  END(aclrtFreePhysical, code);
}

static aclError reserve(void** address, size_t bytes, uint64_t flags) {
  if (bytes == 0 || flags > 1) return fail(INVALID_PARAM, "size or flags");
  void* range = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return fail(BAD_ALLOC, "mmap");
  pthread_mutex_lock(&lock);
  insert((Region){ (uintptr_t)range, bytes, LOC_UNREGISTERED, 0, bytes, -1, true, "", NULL, false });
  pthread_mutex_unlock(&lock);
  *address = range;
  return OK;
}

EXPORT aclError aclrtReserveMemAddress(void** address, size_t bytes, size_t alignment, void* expected, uint64_t flags) {
  (void)alignment, (void)expected;
  BEGIN(aclrtReserveMemAddress);
  END(aclrtReserveMemAddress, reserve(address, bytes, flags));
}

EXPORT aclError aclrtReleaseMemAddress(void* address) {
  BEGIN(aclrtReleaseMemAddress);
  pthread_mutex_lock(&lock);
  Region* region = find(address);
  bool known = region && region->kept && region->from == (uintptr_t)address && region->fd < 0;
  size_t bytes = known ? region->bytes : 0;
  if (known) removeRegion(region);
  pthread_mutex_unlock(&lock);
  if (!known) END(aclrtReleaseMemAddress, fail(RT_PARAM_INVALID, "not reserved, or still mapped"));
  munmap(address, bytes);
  END(aclrtReleaseMemAddress, OK);
}

EXPORT aclError aclrtMapMem(void* address, size_t bytes, size_t offset, void* handle, uint64_t flags) {
  BEGIN(aclrtMapMem);
  aclError code = physical(handle);
  if (code != OK) END(aclrtMapMem, code);
  Physical* memory = handle;
  pthread_mutex_lock(&lock);
  Region* region = find(address);
  if (!region || !region->kept || region->fd >= 0 || region->from != (uintptr_t)address || bytes > region->bytes
      || bytes > memory->bytes || offset != 0 || flags != 0) {
    code = fail(RT_PARAM_INVALID, "range is not reserved, or too small");
  } else if (mmap(address, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, memory->fd, 0) == MAP_FAILED) {
    code = fail(BAD_ALLOC, "mmap");
  } else {
    region->fd = dup(memory->fd);
    region->type = memory->prop.location.type == LOC_DEVICE ? LOC_DEVICE : LOC_HOST;
    region->device = (int32_t)memory->prop.location.id;
    region->memory = memory;
    memory->maps++;
  }
  pthread_mutex_unlock(&lock);
  END(aclrtMapMem, code);
}

EXPORT aclError aclrtUnmapMem(void* address) {
  BEGIN(aclrtUnmapMem);
  pthread_mutex_lock(&lock);
  Region* region = find(address);
  bool known = region && region->kept && region->fd >= 0 && region->from == (uintptr_t)address;
  if (known) {
    mmap(address, region->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    close(region->fd);
    region->fd = -1;
    region->type = LOC_UNREGISTERED;
    region->memory->maps--;
  }
  pthread_mutex_unlock(&lock);
  END(aclrtUnmapMem, known ? OK : fail(RT_PARAM_INVALID, "not mapped"));
}

EXPORT aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop, int option, size_t* bytes) {
  (void)prop, (void)option;
  BEGIN(aclrtMemGetAllocationGranularity);
  *bytes = (size_t)2 << 20;
  END(aclrtMemGetAllocationGranularity, OK);
}

/// Names memory so that another process of this machine can open it as long as this one lives.
static void name(char* key, size_t room, int fd, size_t bytes) {
  memset(key, 0, room);
  snprintf(key, room, "/proc/%d/fd/%d %zu", getpid(), fd, bytes);
}

static int openNamed(const char* key, size_t* bytes) {
  char path[64];
  if (sscanf(key, "%63s %zu", path, bytes) != 2) return -1;
  return open(path, O_RDWR | O_CLOEXEC);
}

#if CANN >= 83
EXPORT aclError aclrtMemExportToShareableHandleV2(void* handle, uint64_t flags, int type, void* out) {
  BEGIN(aclrtMemExportToShareableHandleV2);
  aclError code = physical(handle);
  if (code == OK && (flags > 1 || type != 2)) code = fail(INVALID_PARAM, "flags or type");
  if (code == OK) name(out, sizeof(aclrtMemFabricHandle), ((Physical*)handle)->fd, ((Physical*)handle)->bytes);
  END(aclrtMemExportToShareableHandleV2, code);
}

EXPORT aclError aclrtMemImportFromShareableHandleV2(void* from, int type, uint64_t flags, void** handle) {
  BEGIN(aclrtMemImportFromShareableHandleV2);
  size_t bytes = 0;
  int fd = type == 2 && flags == 0 ? openNamed(from, &bytes) : -1;
  if (fd < 0) END(aclrtMemImportFromShareableHandleV2, fail(RT_PARAM_INVALID, "no such memory"));
  *handle = newPhysical(fd, bytes, (aclrtPhysicalMemProp){ 0, 0, 17, { 0, LOC_HOST }, 0 });
  END(aclrtMemImportFromShareableHandleV2, OK);
}
#endif

#if CANN >= 90
EXPORT aclError aclrtMemSetAccess(void* address, size_t bytes, aclrtMemAccessDesc* access, size_t count) {
  BEGIN(aclrtMemSetAccess);
  pthread_mutex_lock(&lock);
  Region* region = find(address);
  bool good = region && region->kept && region->fd >= 0 && bytes <= region->bytes && count > 0 && access[0].flags == 3;
  pthread_mutex_unlock(&lock);
  END(aclrtMemSetAccess, good ? OK : fail(RT_PARAM_INVALID, "not mapped, or no access wanted"));
}
#endif

EXPORT aclError aclrtIpcMemGetExportKey(void* pointer, size_t bytes, char* key, size_t room, uint64_t flags) {
  BEGIN(aclrtIpcMemGetExportKey);
  pthread_mutex_lock(&lock);
  Region* region = find(pointer);
  bool good = region && region->type == LOC_DEVICE && region->fd >= 0 && region->from == (uintptr_t)pointer && bytes <= region->bytes
      && room >= 65 && flags <= 1;
  if (good) {
    name(key, 65, region->fd, region->bytes);
    region->exported = true;
  }
  pthread_mutex_unlock(&lock);
  END(aclrtIpcMemGetExportKey, good ? OK : fail(RT_PARAM_INVALID, "no device memory, or key too short"));
}

EXPORT aclError aclrtIpcMemImportByKey(void** pointer, const char* key, uint64_t flags) {
  BEGIN(aclrtIpcMemImportByKey);
  size_t bytes = 0;
  int fd = flags <= 1 && currentContext ? openNamed(key, &bytes) : -1;
  if (fd < 0) END(aclrtIpcMemImportByKey, fail(RT_PARAM_INVALID, "no such memory, or no context"));
  void* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) {
    close(fd);
    END(aclrtIpcMemImportByKey, fail(BAD_ALLOC, "mmap"));
  }
  Region region = { (uintptr_t)memory, bytes, LOC_DEVICE, currentContext->device, bytes, fd, false, "", NULL, false };
  snprintf(region.key, sizeof region.key, "%.64s", key);
  pthread_mutex_lock(&lock);
  insert(region);
  pthread_mutex_unlock(&lock);
  *pointer = memory;
  END(aclrtIpcMemImportByKey, OK);
}

EXPORT aclError aclrtIpcMemClose(const char* key) {
  BEGIN(aclrtIpcMemClose);
  Region old = { 0 };
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < regionCount; i++) {
    if (regions[i].key[0] && strncmp(regions[i].key, key, 64) == 0) {
      old = regions[i];
      removeRegion(&regions[i]);
      break;
    }
  }
  bool exporter = false;
  for (size_t i = 0; !old.from && !exporter && i < regionCount; i++) {
    char own[65];
    if (!regions[i].exported) continue;
    name(own, sizeof own, regions[i].fd, regions[i].bytes);
    exporter = strncmp(own, key, 64) == 0;
    if (exporter) regions[i].exported = false;
  }
  pthread_mutex_unlock(&lock);
  if (exporter) END(aclrtIpcMemClose, OK);
  if (!old.from) END(aclrtIpcMemClose, fail(RT_PARAM_INVALID, "neither imported nor exported"));
  munmap((void*)old.from, old.mapped);
  close(old.fd);
  END(aclrtIpcMemClose, OK);
}

// --- for tests

/// Begins anew: devices of so many bytes, nothing scripted, nothing counted, no region known.
EXPORT void double_reset(int devices, size_t bytesEach) {
  pthread_mutex_lock(&lock);
  deviceCount = devices < MAX_DEVICES ? devices : MAX_DEVICES;
  deviceBytes = bytesEach;
  ruleCount = 0;
  memset(calls, 0, sizeof calls);
  memset(latencyNanos, 0, sizeof latencyNanos);
  memset(copiedBy, 0, sizeof copiedBy);
  memset(batchUnsupported, 0, sizeof batchUnsupported);
  strangers = 0;
  largestAllocation = hugePagesUpTo = numaPagesUpTo = SIZE_MAX;
  memset(allocated, 0, sizeof allocated);
  recording = true;
  logged = 0;
  regionCount = 0;
  pthread_mutex_unlock(&lock);
}

static Function number(const char* function) {
  for (int i = 0; i < FUNCTION_COUNT; i++) {
    if (strcmp(NAMES[i], function) == 0) return (Function)i;
  }
  return FUNCTION_COUNT;
}

/// From the nth call of `function` on, counted from 1, so many calls answer `code` and do nothing. 0 if there is no such function.
EXPORT int double_fail(const char* function, int64_t nth, int64_t times, int code, int64_t failIndex) {
  Function which = number(function);
  if (which == FUNCTION_COUNT || ruleCount == MAX_RULES) return 0;
  pthread_mutex_lock(&lock);
  rules[ruleCount++] = (Rule){ which, nth, times, code, failIndex };
  pthread_mutex_unlock(&lock);
  return 1;
}

EXPORT int double_latency(const char* function, int64_t nanos) {
  Function which = number(function);
  if (which == FUNCTION_COUNT) return 0;
  latencyNanos[which] = nanos;
  return 1;
}

/// Calls of `function` wait, for as long as it takes, until they are let go.
EXPORT int double_hold(const char* function, int hold) {
  Function which = number(function);
  if (which == FUNCTION_COUNT) return 0;
  pthread_mutex_lock(&lock);
  held[which] = hold;
  pthread_cond_broadcast(&letGo);
  pthread_mutex_unlock(&lock);
  return 1;
}

EXPORT void double_batch_unsupported(int device, int unsupported) {
  batchUnsupported[device] = unsupported;
}

EXPORT void double_limits(size_t largest, size_t huge, size_t numa) {
  largestAllocation = largest;
  hugePagesUpTo = huge;
  numaPagesUpTo = numa;
}

EXPORT void double_recording(int on) {
  recording = on;
}

EXPORT int64_t double_calls(const char* function) {
  Function which = number(function);
  return which == FUNCTION_COUNT ? -1 : calls[which];
}

/// Elements copied so far: 0 one by one, 1 on a stream, 2 in batches.
EXPORT int64_t double_copied(int how) {
  return copiedBy[how];
}

/// Sides of elements that were memory which nobody told the driver of.
EXPORT int64_t double_strangers(void) {
  return strangers;
}

/// Number `index` of the calls recorded; 0 if there are fewer. The name is the answer.
EXPORT const char* double_call(size_t index, Call* call) {
  pthread_mutex_lock(&lock);
  const char* which = NULL;
  if (index < logged) {
    *call = log_[index];
    which = NAMES[call->function];
  }
  pthread_mutex_unlock(&lock);
  return which;
}

/// What is alive: 0 regions, 1 contexts, 2 streams, 3 physical memory.
EXPORT int64_t double_alive(int what) {
  return what == 0 ? (int64_t)regionCount : what == 1 ? liveContexts : what == 2 ? liveStreams : livePhysicals;
}

/// A loop in C over the batch call, to compare a caller in another language with.
EXPORT aclError double_loop(int rounds, void** to, void** from, size_t* sizes, size_t count, aclrtMemcpyBatchAttr* attrs) {
  size_t index = 0, failIndex;
  for (int i = 0; i < rounds; i++) {
    aclError code = aclrtMemcpyBatch(to, sizes, from, sizes, count, attrs, &index, 1, &failIndex);
    if (code != OK) return code;
  }
  return OK;
}

/// The same copies by the C library alone.
EXPORT void double_memcpy(int rounds, void** to, void** from, size_t* sizes, size_t count) {
  for (int i = 0; i < rounds; i++) {
    for (size_t j = 0; j < count; j++) memcpy(to[j], from[j], sizes[j]);
  }
}

#define SIZE(type) { #type, sizeof(type) }
#define OFFSET(type, field) { #type "." #field, offsetof(type, field) }

/// Sizes and offsets as this library was compiled with, up to a NULL name.
typedef struct { const char* name; uint64_t value; } AbiEntry;
#ifndef NO_ABI
EXPORT const AbiEntry penstock_abi[] = {
  SIZE(aclrtMemLocation), OFFSET(aclrtMemLocation, id), OFFSET(aclrtMemLocation, type),
  SIZE(aclrtMemcpyBatchAttr), OFFSET(aclrtMemcpyBatchAttr, dstLoc), OFFSET(aclrtMemcpyBatchAttr, srcLoc), OFFSET(aclrtMemcpyBatchAttr, rsv),
  SIZE(aclrtPtrAttributes), OFFSET(aclrtPtrAttributes, location), OFFSET(aclrtPtrAttributes, pageSize), OFFSET(aclrtPtrAttributes, rsv),
  SIZE(aclrtPhysicalMemProp), OFFSET(aclrtPhysicalMemProp, handleType), OFFSET(aclrtPhysicalMemProp, allocationType),
  OFFSET(aclrtPhysicalMemProp, memAttr), OFFSET(aclrtPhysicalMemProp, location), OFFSET(aclrtPhysicalMemProp, reserve),
  SIZE(aclrtMemFabricHandle), SIZE(aclrtMemAccessDesc), OFFSET(aclrtMemAccessDesc, flags), OFFSET(aclrtMemAccessDesc, location),
  OFFSET(aclrtMemAccessDesc, rsv), { NULL, 0 }
};
#endif
