-- The load that wrk makes, and what it measured, as one line of JSON.
--
-- LOAD_PATHS   "PATH WEIGHT;PATH WEIGHT;…"; with more than one, each request asks for one of them at random by its weight
-- LOAD_SEED    of that choice: the same seed asks for the same files in the same order
-- LOAD_CLOSE   "1": one connection for each request

local ffi = require("ffi")

local paths, total = {}, 0
for path, weight in os.getenv("LOAD_PATHS"):gmatch("([^ ;]+) ([%d.e-]+)") do
    total = total + tonumber(weight)
    paths[#paths + 1] = { path = path, upto = total }
end

local close = os.getenv("LOAD_CLOSE") == "1"
if close then wrk.headers["Connection"] = "close" end
wrk.path = paths[1].path

if #paths > 1 then
    local requests = {}

    local threads = 0
    function setup(thread)
        threads = threads + 1
        thread:set("seed", tonumber(os.getenv("LOAD_SEED")) * 100 + threads)
    end

    function init(arguments)
        math.randomseed(seed)
        for index, entry in ipairs(paths) do requests[index] = wrk.format("GET", entry.path) end
    end

    function request()
        local at, low, high = math.random() * total, 1, #paths
        while low < high do
            local middle = math.floor((low + high) / 2)
            if paths[middle].upto > at then high = middle else low = middle + 1 end
        end
        return requests[low]
    end
end

-- wrk adds samples to its histogram: for each response that took longer than the mean, those that further requests would
-- have seen had they been sent meanwhile. Here nobody would have sent them, and they would hide what a policy does for the
-- order of the requests that there were. So they are taken out again: wrk did, from the largest n down and for
-- m = n - interval, n - 2 interval, … > interval, `data[m] += data[n]`; so the histogram without them is
-- data[m] - data[m + interval], taken from the smallest up.
--
-- struct { uint64_t count, limit, min, max, data[]; }, where data[n] counts the responses of n microseconds
local function histogram(summary, latency)
    local stats = ffi.cast("uint64_t **", latency)[0]
    assert(stats[2] == latency.min and stats[3] == latency.max, "this wrk is not 4.1: its histogram lies differently")
    local least, most, data = tonumber(stats[2]), tonumber(stats[3]), stats + 4
    local rounds = math.floor(summary.requests / tonumber(os.getenv("LOAD_CONNECTIONS")))
    if rounds > 0 then
        local interval = math.floor(summary.duration / rounds)
        for m = interval + 1, most - interval do data[m] = data[m] - data[m + interval] end
    end
    return least, most, data
end

function done(summary, latency)
    local errors = summary.errors
    local sum, count, p50, p99, least, most = 0, 0, 0, 0, 0, 0
    if summary.requests > 0 then
        local data
        least, most, data = histogram(summary, latency)
        for value = least, most do
            local here = tonumber(data[value])
            count, sum = count + here, sum + here * value
        end
        local seen = 0
        for value = least, most do
            seen = seen + tonumber(data[value])
            if p50 == 0 and seen >= count * 0.50 then p50 = value end
            if p99 == 0 and seen >= count * 0.99 then p99 = value end
        end
    end
    io.write(string.format(
        'RESULT {"requests":%d,"microseconds":%d,"bytes":%d,"recorded":%d,"mean":%.3f,"p50":%d,"p99":%d,"max":%d,' ..
            '"errors":{"connect":%d,"read":%d,"write":%d,"timeout":%d,"status":%d}}\n',
        summary.requests, summary.duration, summary.bytes, count, count > 0 and sum / count or 0, p50, p99, most,
        errors.connect, errors.read, errors.write, errors.timeout, errors.status))
end
